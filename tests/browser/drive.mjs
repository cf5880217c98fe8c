// drive.mjs SCENARIO PAGE WIDTH THEME script|none: opens a page from disk in Chromium and plays a scenario on it.
// Exits with 1 if the scenario fails, if the page logs an error, or if it requests anything but its own file.
const [scenario, file, width, theme, script] = process.argv.slice(2);
const { chromium } = await import(process.env.PLAYWRIGHT);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
const faults = [];
try {
  const context = await browser.newContext({ viewport: { width: Number(width), height: 800 }, colorScheme: theme, javaScriptEnabled: script === "script", permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  page.setDefaultTimeout(10000 * Number(process.env.SOFTALIGN_PATIENCE ?? 1));
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => faults.push(`error on the page: ${error.message}`));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) faults.push(`asked for ${request.url()}`); });
  const { play } = await import(`./scenarios/${scenario}.mjs`);
  const before = performance.now();
  await page.goto(`file://${file}`);
  const result = await play(page, { milliseconds: performance.now() - before, script: script === "script" });
  console.log(JSON.stringify(result ?? {}));
} catch (error) {
  faults.push(error.stack);
} finally {
  await browser.close();
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length ? 1 : 0;
