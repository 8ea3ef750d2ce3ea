// Secrets and keys in the browser: stored, replaced, removed and pruned; made, shown once and revoked.
import { execFileSync } from "node:child_process";
import { GATEWAY, assert, play, signedIn } from "./kit.mjs";

const { POWERSTRIP, FOLDER } = process.env;
const powerstrip = (...args) =>
  JSON.parse(execFileSync(POWERSTRIP, ["--json", ...args, "--config", "powerstrip.yaml"], { cwd: FOLDER, encoding: "utf8" }));

await play(async (context) => {
  const page = await signedIn(context, "/dashboard/vault");
  const row = (name) => `.rows li:has(code:text-is('${name}'))`;
  const store = async (name, value) => {
    await page.fill("#secret-name", name);
    await page.fill("#secret-value", value);
    await page.click("form.secret button.primary");
    await page.waitForSelector(`${row(name)} .mark:has-text('stored')`);
    assert.match(await page.textContent(".notice"), /is stored/);
    assert.ok(!(await page.content()).includes(value), "the value is not shown");
    assert.ok(!page.url().includes(value));
  };

  // A secret that the config asks for is missing; once it is stored, the server that needs it starts.
  await page.waitForSelector(`${row("NOTES_KEY")} .mark:has-text('missing')`);
  await page.click(`${row("NOTES_KEY")} a`);
  await page.waitForURL(/name=NOTES_KEY/);
  assert.equal(await page.inputValue("#secret-name"), "NOTES_KEY");
  await store("NOTES_KEY", "s3cr3t-value");
  await page.waitForSelector(`${row("NOTES_KEY")}:has-text('used by the config')`);
  await page.goto(`${GATEWAY}/dashboard/servers/notes`);
  await page.waitForSelector("#server-state .mark:has-text('ready')");

  // Unused ones are marked, removed one by one after a question, or all together.
  await page.goto(`${GATEWAY}/dashboard/vault`);
  for (const name of ["OLD_ONE", "OLD_TWO", "OLD_THREE"]) await store(name, "canary-value");
  await page.waitForSelector(`${row("OLD_ONE")}:has-text('unused')`);
  await page.click(`${row("OLD_ONE")} summary`);
  assert.ok(powerstrip("secret", "ls").some((secret) => secret.name === "OLD_ONE"), "it asks first");
  await page.click(`${row("OLD_ONE")} button.danger`);
  await page.waitForSelector(".notice:has-text('removed')");
  await page.click(".page-head summary");
  await page.click(".page-head button.danger");
  await page.waitForSelector(".notice:has-text('unused secrets are removed')");
  assert.deepEqual(powerstrip("secret", "ls").map((secret) => secret.name), ["NOTES_KEY"]);

  // A key is shown once.
  await page.goto(`${GATEWAY}/dashboard/keys`);
  await page.fill("#key-name", "ci");
  await page.check("input[value='runs:read']");
  await page.selectOption("#key-expires", "30");
  await page.click("form.panel button.primary");
  const key = (await page.textContent("#new-key")).trim();
  assert.match(key, /^ps_[0-9a-f]+_/);
  const [made] = powerstrip("keys", "ls");
  assert.deepEqual([made.name, made.scopes], ["ci", ["runs:read", "tools:call", "tools:read"]]);
  assert.equal(Math.round((made.expiresUnixMs - made.createdUnixMs) / 86_400_000), 30);
  await page.goto(`${GATEWAY}/dashboard/keys`);
  assert.ok(!(await page.content()).includes(key), "it is not shown again");
  await page.click(".rows summary");
  assert.ok(!powerstrip("keys", "ls")[0].revokedUnixMs, "it asks first");
  await page.click(".rows button.danger");
  await page.waitForSelector(".notice:has-text('revoked')");
  await page.waitForSelector(".rows .mark:has-text('revoked')");

  // All of it is in the audit trail.
  for (const changed of ["secret:OLD_ONE", "key:ci"]) {
    await page.goto(`${GATEWAY}/dashboard/calls?q=${changed}`);
    await page.waitForSelector(`#results tbody tr:has-text('${changed}')`);
  }
});
