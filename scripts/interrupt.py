"""Imported first by a script: Ctrl-C ends it at once and without a word, also while modules are read, and so does a reader
that wants no more (| head).

`softalign` blocks the signal before it becomes a script, because Python reports one that comes while it starts.
"""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
