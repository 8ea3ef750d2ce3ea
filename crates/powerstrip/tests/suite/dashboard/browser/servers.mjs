// From an empty folder: a stdio and an HTTP server, a secret, a broken server with what it wrote, a failed call that is
// tried again, restart, disable and enable. Servers and secrets are named on the host; everything else happens here.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { GATEWAY, assert, call, complained, play, signedIn } from "./kit.mjs";

const { POWERSTRIP, FOLDER } = process.env;
const powerstrip = (args, input = "") =>
  execFileSync(POWERSTRIP, [...args, "--config", "powerstrip.yaml"], { cwd: FOLDER, input, encoding: "utf8" });

await play(async (context, errors) => {
  const page = await signedIn(context, "/dashboard/servers");
  const state = (text) => page.waitForSelector(`#server-state .mark:has-text('${text}')`);
  const press = async (name) => {
    await page.click(`#server-actions button:has-text('${name}')`);
    await page.waitForSelector(".notice");
  };

  // Both servers are listed; one waits for its secret.
  await page.waitForSelector("a.row[href='/dashboard/servers/remote']:has-text('ready')");
  await page.click("a.row[href='/dashboard/servers/notes']");
  await state("needs a secret");
  assert.match(await page.textContent("#server-problem"), /NOTES_KEY/, "the missing secret is named");
  powerstrip(["secret", "set", "NOTES_KEY"], "s3cr3t-value\n");
  await state("ready");
  await page.waitForSelector("#log:has-text('notes: read 1 notes')");
  await page.waitForSelector("#server-tools a.row:has-text('notes:read')");
  assert.ok(!(await page.content()).includes("s3cr3t-value"));

  // The operator breaks it: the page says why.
  fs.renameSync(path.join(FOLDER, "notes.json"), path.join(FOLDER, "away.json"));
  await press("Restart");
  await state("down");
  await page.waitForSelector("#log:has-text('FATAL: cannot read notes.json')");
  assert.equal(await page.locator("#server-problem [role=alert]").count(), 1);

  // Calls fail meanwhile, and their page shows the message and what the server wrote.
  const failed = await call("notes:read", { name: "milk" });
  assert.equal(failed.errors[0].code, "UNAVAILABLE");
  await page.goto(`${GATEWAY}/dashboard/calls?server=notes&outcome=failed&range=15m`);
  await page.click(`a[href='/dashboard/calls/${failed.meta.traceId}']`);
  await page.waitForSelector(".cause:has-text('UNAVAILABLE')");
  await page.waitForSelector("text=Try again with this input");
  await page.goto(`${GATEWAY}/dashboard`);
  await page.waitForSelector("#attention:has-text('1 server with problems')");

  // Repaired, it is restarted, and the call is tried again with the same input.
  fs.renameSync(path.join(FOLDER, "away.json"), path.join(FOLDER, "notes.json"));
  await page.goto(`${GATEWAY}/dashboard/servers/notes`);
  await press("Restart");
  await state("ready");
  await page.goto(`${GATEWAY}/dashboard/calls/${failed.meta.traceId}`);
  await page.click("text=Try again with this input");
  assert.equal(await page.inputValue("[name='v/name']"), "milk");
  await page.click("form.try button.primary");
  await page.waitForSelector("#answer .mark.good");
  assert.match(await page.textContent("#envelope"), /two bottles/);

  // An image is shown as an image.
  await page.goto(`${GATEWAY}/dashboard/tools/notes%3Adraw`);
  await page.click("form.try button.primary");
  await page.waitForSelector(".gallery img");
  assert.equal(await page.$eval(".gallery img", async (img) => { await img.decode(); return img.naturalWidth; }), 1);
  assert.match(await page.textContent("#envelope"), /shown as an image/);

  // Disabled, its tools are gone; enabled, they are back.
  await page.goto(`${GATEWAY}/dashboard/servers/notes`);
  await page.click("#server-actions summary:has-text('Disable')");
  assert.ok(!fs.readFileSync(path.join(FOLDER, "powerstrip.yaml"), "utf8").includes("disabled"), "it asks first");
  await press("Disable");
  await state("disabled");
  assert.match(fs.readFileSync(path.join(FOLDER, "powerstrip.yaml"), "utf8"), /disabled: true/);
  const gone = await call("notes:read", { name: "milk" });
  assert.equal(gone.ok, false);
  await press("Enable");
  await state("ready");
  assert.equal((await call("notes:read", { name: "milk" })).ok, true);

  // The list of calls follows, and can be searched, narrowed and paused without a new page.
  await page.goto(`${GATEWAY}/dashboard/calls?server=remote`);
  const rows = page.locator("#results tbody tr");
  const before = await rows.count();
  await page.evaluate(() => { window.same = true; });
  await call("remote:ping", {});
  await page.waitForFunction((count) => document.querySelectorAll("#results tbody tr").length > count, before);
  await page.fill("input[name=q]", "no such text");
  await page.waitForSelector("#results .empty:has-text('No results')");
  await page.fill("input[name=q]", "");
  await page.selectOption("select[name=range]", "15m");
  await page.waitForURL(/range=15m/);
  await page.waitForSelector("#results tbody tr");
  assert.equal(await page.evaluate(() => window.same), true);
  await page.click("text=Pause");
  await page.waitForSelector("#live-switch:has-text('paused')");
  assert.equal(await page.getAttribute("body", "data-poll"), "0");

  // Texts are copied.
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: GATEWAY });
  await page.goto(`${GATEWAY}/dashboard/connect?client=cursor`);
  await page.click("[data-copy=entry]");
  await page.waitForSelector("[data-copy=entry]:has-text('Copied')");
  const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  assert.deepEqual(copied, { mcpServers: { powerstrip: { url: `${GATEWAY}/mcp` } } });
  assert.equal(await page.textContent("#said"), "Copied");
  await page.goto(`${GATEWAY}/dashboard/tools/notes%3Aread`);
  await page.fill("[name='v/name']", "it's");
  await page.click("button[value=curl]");
  await page.waitForSelector("#curl");
  assert.match(await page.textContent("#curl"), /curl http.*\/mcp\/tool\/notes%3Aread[^]*--json '\{"name":"it'\\''s"\}'/);

  // A browser gets a page for an address that does not exist.
  await page.goto(`${GATEWAY}/`);
  await page.waitForURL(`${GATEWAY}/dashboard`);
  await page.goto(`${GATEWAY}/nowhere`);
  await page.waitForSelector("h1:has-text('Not found')");
  await complained(errors);
});
