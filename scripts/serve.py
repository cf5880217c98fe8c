#!/usr/bin/python3
"""Shows the runs below a folder in a browser, on this machine only: a list, and the page of `softalign report` for each run, sweep or study.

serve.py [FOLDER] [--port N]: prints the address, which contains a secret token. Pages of experiments that still train reload every ten seconds.
Ctrl-C ends the server; it writes no files.
"""

from __future__ import annotations

from softalign_tools import ending, missing_package  # isort: skip
import argparse
import json
import secrets
import sys
from html import escape
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, quote, urlsplit

from softalign_tools.files import say
from softalign_tools.program import RecordError, answer
from softalign_tools.report.page import compute, html
from softalign_tools.report.svg import counted

REFRESH = 10  # seconds
FOLLOWED = {"claimed", "running"}
COOKIE = "softalign"
STYLE = "body{font:16px system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #8884}:root{color-scheme:light dark}"


class Shown:
    """The pages of one folder. A page is rebuilt if a file of its runs has changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.lock = Lock()
        self.pages: dict[Path, tuple[object, str]] = {}

    def runs(self) -> list[dict]:
        return json.loads(answer("ls", "--json", "--", self.folder))

    def place(self, name: str) -> Path:
        """Returns a folder below the one that is served. Raises KeyError for any other."""
        place = (self.folder / name).resolve()
        if not place.is_dir() or self.folder not in (place, *place.parents):
            raise KeyError(name)
        return place

    def page(self, place: Path) -> str:
        """Returns the report page of a folder. Raises RecordError."""
        files = sorted(file for name in ("run.h5", "status.json", "plan.jsonl", "study.json") for file in place.rglob(name))
        seen = [(str(file), file.stat().st_mtime_ns) for file in files if file.exists()]
        with self.lock:
            if self.pages.get(place, (None, ""))[0] != seen:
                self.pages[place] = seen, html(compute([place]))
            return self.pages[place][1]

    def list(self) -> str:
        rows, folders = [], {}
        for run in self.runs():
            path = Path(run["folder"]).resolve().relative_to(self.folder)
            folders.setdefault(path.parts[0] if len(path.parts) > 1 else "", []).append(run["state"])
            last = "  ".join(f"{name} {value:.4g}" for name, value in run["last"].items() if name in ("dev/loss", "dev/bleu"))
            cells = [f'<a href="/page?place={quote(str(path))}">{escape(run["run_id"])}</a>', *map(escape, (run["name"], run["state"], str(run["updates"]), last))]
            rows.append(f"<tr><td>{'</td><td>'.join(cells)}</td></tr>")
        links = "".join(
            f'<li><a href="/page?place={quote(name)}">{escape(name)}</a>: {counted(len(states), "run")}, {states.count("complete")} complete</li>'
            for name, states in sorted(folders.items()) if name
        )  # fmt: skip
        head = "<tr><th>run</th><th>name</th><th>state</th><th>updates</th><th>last</th></tr>"
        return f"<h1>{escape(self.folder.name)}</h1><ul>{links}</ul><table>{head}{''.join(rows)}</table>"


class Handler(BaseHTTPRequestHandler):
    """Answers GET / and /page?place=... if the request has the token, first in the address, then in a cookie."""

    shown: Shown
    token: str

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        values = {name: found[0] for name, found in parse_qs(asked.query).items()}
        host = self.headers.get("Host", "").rpartition(":")[0]
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get(COOKIE)
        given = values.get("token", cookie.value if cookie else "")
        if host not in ("127.0.0.1", "localhost") or not secrets.compare_digest(given.encode(), self.token.encode()):
            return self.send(403, "<p>This page is shown to those alone who started it: open the address that softalign serve printed.</p>")
        try:
            if asked.path == "/":
                return self.send(200, self.shown.list(), live=any(run["state"] in FOLLOWED for run in self.shown.runs()))
            if asked.path == "/page":
                place = self.shown.place(values.get("place", ""))
                live = any(Path(run["folder"]).resolve().is_relative_to(place) and run["state"] in FOLLOWED for run in self.shown.runs())
                return self.send(200, self.shown.page(place), live, whole=True)
        except (KeyError, ValueError, OSError):  # including names that no file can have
            pass
        except RecordError as error:  # a run that has only begun has no record yet
            return self.send(200, f"<p>{escape(str(error))}</p>", live=True)
        return self.send(404, "<p>There is no such page.</p>")

    def send(self, status: int, body: str, live: bool = False, whole: bool = False) -> None:
        page = body if whole else f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>softalign</title><style>{STYLE}</style><body>{body}</body></html>'
        content = page.encode(errors="replace")
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Frame-Options", "DENY")
        if not whole:
            self.send_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
        if status == 200:
            self.send_header("Set-Cookie", f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/")
        if live:
            self.send_header("Refresh", str(REFRESH))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Logs nothing, to keep the terminal free."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="serve", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("results"), metavar="FOLDER", help="folder of the runs (default: results)")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="port of the server (default: a free one)")
    given = parser.parse_args(arguments)
    if not given.folder.is_dir():
        say("serve", f"{given.folder}: no such folder")
        return 2
    handler = type("Here", (Handler,), {"shown": Shown(given.folder), "token": secrets.token_urlsafe(16)})
    try:
        server = ThreadingHTTPServer(("127.0.0.1", given.port), handler)
    except (OSError, OverflowError) as error:
        say("serve", f"port {given.port}: cannot be used: {error}")
        return 2
    print(f"http://127.0.0.1:{server.server_address[1]}/?token={handler.token}", flush=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
