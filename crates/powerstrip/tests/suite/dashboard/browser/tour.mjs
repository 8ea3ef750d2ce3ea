// Every page with something on it, for scenarios that look at all of them.
import { GATEWAY, assert, call, signedIn } from "./kit.mjs";

/** Makes calls, approvals, a run, a file and a trial; resolves to a signed-in page, the paths of all pages, and an end. */
export async function prepare(context) {
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
    vault: "/dashboard/vault",
    addServer: "/dashboard/add-server",
    chosenServer: "/dashboard/add-server?from=github",
    keys: "/dashboard/keys",
    connect: "/dashboard/connect?client=claude-desktop",
    failed: `/dashboard/calls/${failed.meta.traceId}`,
    settings: "/dashboard/settings",
    missing: "/dashboard/approvals/none",
  };
  const end = async () => {
    abandoned.abort();
    await Promise.all(left);
  };
  return { page, pages, end };
}

/** Whether an error is what the browser logs about the page that does not exist. */
export const isExpected = (error) =>
  /no page complains/.test(error.message) && error.actual?.every((line) => /approvals\/none.*404/.test(line));
