// A server is added in the browser: searched for, reviewed, tested, repaired and added; its secret is never shown.
import fs from "node:fs";
import path from "node:path";
import { GATEWAY, assert, call, play, signedIn } from "./kit.mjs";

const { FOLDER } = process.env;
const config = () => fs.readFileSync(path.join(FOLDER, "powerstrip.yaml"), "utf8");

await play(async (context) => {
  const page = await signedIn(context, "/dashboard/servers");
  await page.click("text=Add a server");

  // The catalog is searched while typing; a chosen server has fields for what it needs.
  await page.fill("#q", "github");
  await page.waitForSelector("#found a.row:has-text('github')");
  await page.waitForFunction(() => document.querySelectorAll("#found a.row").length < 5);
  await page.fill("#q", "filesystem");
  await page.click("#found a.row:has(.row-name:text-is('filesystem'))");
  assert.equal(await page.inputValue("#name"), "filesystem");
  await page.fill("#arguments", "/srv/docs");
  await page.click("button:has-text('Review')");
  assert.match(await page.textContent("#preview"), /runs: npx .*server-filesystem.* \/srv\/docs/);

  // A mistyped program: the test says so, and nothing is written.
  const before = config();
  const fill = async (fields) => {
    await page.goto(`${GATEWAY}/dashboard/add-server`);
    await page.click("summary:has-text('Variables')");
    for (const [id, text] of Object.entries(fields)) await page.fill(`#${id}`, text);
    await page.click("button:has-text('Review')");
    await page.waitForSelector("#preview");
  };
  await fill({ name: "diary", program: "pythn3", arguments: "diary.py" });
  await page.click("button:has-text('Test')");
  await page.waitForSelector("#trial [role=alert]:has-text('did you mean python3?')");
  assert.equal(config(), before);

  // A broken one shows what it wrote.
  await fill({ name: "diary", program: "python3", arguments: "missing.py" });
  await page.click("button:has-text('Test')");
  await page.waitForSelector("#trial #log:has-text('missing.py')");

  // A good one shows its tools, is not in the config yet, and is added with its secret in the vault.
  await fill({ name: "diary", program: "python3", arguments: "notes.py", env: "API_TOKEN=s3cr3t-canary-4711\nMODE=fast" });
  assert.match(await page.textContent("main"), /Stores the secret API_TOKEN in the vault/);
  await page.click("button:has-text('Test')");
  await page.waitForSelector("#trial .rows li:has-text('diary:read')");
  assert.equal(config(), before);
  assert.ok(!(await page.content()).includes("canary"), "no page shows the secret");
  await page.click("button:has-text('Add')");
  await page.waitForURL(`${GATEWAY}/dashboard/servers/diary?did=add`);
  await page.waitForSelector("#server-state .mark:has-text('ready')");
  assert.match(config(), /diary:[^]*command: python3[^]*API_TOKEN:[^]*secret: API_TOKEN/);
  assert.ok(!config().includes("canary"));
  assert.equal((await call("diary:read", { name: "milk" })).ok, true);
  await page.goto(`${GATEWAY}/dashboard/vault`);
  await page.waitForSelector(".rows li:has-text('API_TOKEN'):has-text('used by the config')");
  for (const change of ["servers.try:diary", "servers.add:diary"]) {
    await page.goto(`${GATEWAY}/dashboard/calls?q=${change}`);
    await page.waitForSelector(`#results tbody tr:has-text('${change}')`);
  }
});
