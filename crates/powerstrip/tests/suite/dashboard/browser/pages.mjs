// Every page at two widths in two colour schemes: nothing is wider than the screen, every control has a name, and a
// screenshot is taken for review.
import fs from "node:fs";
import path from "node:path";
import { GATEWAY, SCREENS, assert, call, play, signedIn } from "./kit.mjs";

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

await play(async (context) => {
  fs.mkdirSync(SCREENS, { recursive: true });
  for (let count = 0; count < 12; count += 1) {
    await call("demo.echo", { message: `call ${count}` });
  }
  const failed = await call("demo.echo", {});
  const { meta } = await call("orders.create", { customer: "C-1042", lines: [{ sku: "A-7" }] });
  const abandoned = new AbortController();
  const waits = (input) => call("mail.send", input, abandoned.signal).catch(() => null);
  const left = [
    waits({ to: "ann@example.com", subject: "Invoice 2026-118", body: "Dear Ann,\nplease find the invoice attached.\n" }),
    waits({ to: "board@example.com", subject: "Minutes", body: "Draft." }),
  ];
  const page = await signedIn(context, "/dashboard/approvals");
  await page.waitForSelector("#waiting li:nth-child(2)");
  const asked = await page.getAttribute("#waiting a.row:has-text('2026-118')", "href");

  // A run with a few calls, and a file.
  const run = { "powerstrip-run": "quarterly report" };
  await call("demo.echo", { message: "one" }, undefined, run);
  await Promise.all([call("time.now", {}, undefined, run), call("text.stats", { text: "two words" }, undefined, run)]);
  await call("orders.create", { customer: "C-7", lines: [{ sku: "B-1" }] }, undefined, run);
  await page.goto(`${GATEWAY}/dashboard/runs`);
  const inRun = await page.getAttribute("#runs a.row:has-text('quarterly report')", "href");
  await page.goto(`${GATEWAY}/dashboard/files`);
  await page.setInputFiles("#file", { name: "notes <b>.txt", mimeType: "text/plain", buffer: Buffer.from("First line\n<script>alert(1)</script>\n") });
  await page.click(".upload button");
  await page.waitForSelector("#text");
  assert.equal((await page.textContent("#text")).trim(), "First line\n<script>alert(1)</script>");
  const inFile = new URL(page.url()).pathname;
  const [saved] = await Promise.all([page.waitForEvent("download"), page.click("text=Download")]);
  assert.equal(await saved.failure(), null);

  // A workflow that has ended, and one that waits for a decision about a failed task.
  const said = (id, message, after = []) => ({ id, tool: "demo.echo", depends_on: after, arguments: { message } });
  const lines = { id: "order", tool: "orders.create", depends_on: ["figures"], arguments: { customer: "C-7", lines: "{{ [] }}" } };
  const complete = await call("powerstrip:execute_dag", { workflow: { tasks: [said("hello", "Hello"), said("shout", "HELLO!", ["hello"])] } });
  const waiting = await call("powerstrip:execute_dag", {
    workflow: { name: "Quarterly figures", tasks: [said("figures", "1, 2, 3"), said("words", "one, two, three", ["figures"]), lines, said("report", "All figures", ["words", "order"])] },
    config: { per_layer_validation: true },
  });
  await call("powerstrip:continue", { workflow_id: waiting.data.workflow_id });
  const pageOf = (answer) => `/dashboard/runs/run_${answer.data.workflow_id.replaceAll("-", "")}`;
  await page.goto(`${GATEWAY}${pageOf(waiting)}`);
  await page.click("#workflow a[href$='#task-order']");
  await page.waitForSelector("#task-order[open] >> text=Retry task");
  await page.click("#confirm-abort summary");
  await page.waitForSelector("text=Abort the workflow");

  // A trial call, and a call that is compared with an approved one.
  await page.goto(`${GATEWAY}${asked}`);
  await page.click("button[value=approve]");
  await page.waitForSelector("#verdict:has-text('approved')");
  await left[0];
  left[0] = waits( { to: "ann@example.com", subject: "Invoice 2026-119", body: "Dear Ann,\nthis is the corrected invoice.\n" });
  await page.goto(`${GATEWAY}/dashboard/approvals`);
  await page.waitForSelector("#waiting li:nth-child(2)");
  const compared = await page.getAttribute("#waiting a.row:has-text('2026-119')", "href");
  await page.goto(`${GATEWAY}/dashboard/tools/demo.echo`);
  await page.fill("[name='v/message']", "Hello from the dashboard");
  await page.click("form.try button.primary");
  await page.waitForSelector("#answer .mark.good");
  const tried = new URL(page.url()).pathname;

  const pages = {
    overview: "/dashboard",
    catalog: "/dashboard/catalog",
    tool: "/dashboard/tools/orders.create",
    try: tried,
    approvals: "/dashboard/approvals",
    approval: compared,
    rules: "/dashboard/rules",
    runs: "/dashboard/runs",
    run: inRun,
    workflow: `${pageOf(waiting)}?task=order`,
    complete: pageOf(complete),
    again: `${pageOf(waiting)}/again`,
    files: "/dashboard/files",
    file: inFile,
    calls: "/dashboard/calls",
    trace: `/dashboard/calls/${meta.traceId}`,
    prompts: "/dashboard/prompts",
    prompt: "/dashboard/prompts/support/greeting/1",
    servers: "/dashboard/servers",
    server: "/dashboard/servers/crm",
    agents: "/dashboard/agents",
    secrets: "/dashboard/secrets",
    connect: "/dashboard/connect?client=claude-desktop",
    failed: `/dashboard/calls/${failed.meta.traceId}`,
    settings: "/dashboard/settings",
    missing: "/dashboard/approvals/none",
  };
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const scheme of ["light", "dark"]) {
      for (const [name, place] of Object.entries(pages)) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme: scheme });
        const quiet = name === "missing";
        const response = await page.goto(`${GATEWAY}${place}`);
        assert.equal(response.status(), quiet ? 404 : 200, place);
        const [wide, fits] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        assert.ok(wide <= fits, `${name} is ${wide} wide on a ${size} of ${fits}`);
        const nameless = await page.$$eval("main input:not([type=hidden]), main select, main textarea", (all) =>
          all.filter((one) => !one.labels?.length && !one.ariaLabel).map((one) => one.outerHTML));
        assert.deepEqual(nameless, [], `${name}: every control has a label`);
        assert.equal(await page.locator("h1, .empty-title").count() > 0, true, name);
        await page.screenshot({ path: path.join(SCREENS, `${name}-${size}-${scheme}.png`), fullPage: size === "phone" });
      }
      if (size === "phone") {
        assert.ok(!(await page.isVisible("nav#nav")), "the rooms are behind a button");
        await page.click("button.menu");
        assert.ok(await page.isVisible("nav#nav"));
        await page.screenshot({ path: path.join(SCREENS, `menu-${size}-${scheme}.png`) });
        await page.keyboard.press("Escape");
      }
    }
  }
  await contrast(page);
  abandoned.abort();
  await Promise.all(left);
}).catch((error) => {
  // The browser reports the missing page.
  const expected = /no page complains/.test(error.message) && error.actual?.every((line) => /approvals\/none.*404/.test(line));
  if (!expected) {
    throw error;
  }
});

/** Text has enough contrast in both schemes (WCAG AA). */
async function contrast(page) {
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(`${GATEWAY}/dashboard/approvals`);
    const faint = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      const colour = (name) => {
        const hex = style.getPropertyValue(name).trim().slice(1);
        return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
      };
      const light = (rgb) => rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
      const ratio = (a, b) => {
        const [high, low] = [light(colour(a)), light(colour(b))].sort((x, y) => y - x);
        return (high + 0.05) / (low + 0.05);
      };
      const pairs = [];
      for (const ground of ["--ground", "--panel", "--sunken"]) {
        for (const text of ["--text", "--soft", "--accent", "--good", "--doubtful", "--bad"]) pairs.push([text, ground]);
      }
      pairs.push(["--on-accent", "--accent"], ["--accent-strong", "--tint"], ["--bad", "--bad-tint"], ["--text", "--good-tint"]);
      return pairs.filter(([a, b]) => ratio(a, b) < 4.5).map(([a, b]) => `${a} on ${b}: ${ratio(a, b).toFixed(2)}`);
    });
    assert.deepEqual(faint, [], scheme);
  }
}
