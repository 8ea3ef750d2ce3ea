import { GATEWAY, assert, call, listening, play, signedIn } from "./kit.mjs";

await play(async (context) => {
  const one = await signedIn(context, "/dashboard/approvals");
  const two = await context.newPage();
  await two.goto(`${GATEWAY}/dashboard/approvals`);
  assert.match(await one.textContent("#waiting"), /No pending approvals/);
  await Promise.all([listening(one), listening(two)]);

  // Approved in one tab, seen in the other.
  const first = call("mail.send", { to: "ann@example.com", subject: "Hello" });
  for (const page of [one, two]) {
    await page.bringToFront();
    await page.waitForSelector("#waiting a.row");
    assert.match(await page.textContent("#waiting a.row .countdown"), /left/);
  }
  await one.click("#waiting a.row");
  await one.waitForSelector("#arguments");
  assert.match(await one.textContent("#arguments"), /"to": "ann@example.com"/);
  assert.match(await one.textContent("main"), /No call of this tool has been approved before/);
  const before = await one.textContent("main .verdict .countdown");
  await one.waitForFunction((text) => document.querySelector(".verdict .countdown").textContent !== text, before);
  await one.click("button[value=approve]");
  assert.equal((await first).ok, true);
  await one.waitForSelector("#verdict:has-text('approved')");
  await two.bringToFront();
  await two.waitForSelector("#waiting:has-text('No pending approvals')");
  await two.waitForSelector("#decided a.row:has-text('approved')");

  // Rejected with a reason, which the caller receives; the open form in the other tab disappears.
  const second = call("mail.send", { to: "bob@example.com", subject: "Hello" });
  await two.waitForSelector("#waiting a.row");
  await two.click("#waiting a.row");
  await two.waitForSelector("#decision form");
  await one.goto(two.url());
  await listening(two);
  assert.match(await one.textContent(".change .before"), /ann@example.com/, "compared with the approved call");
  assert.match(await one.textContent(".change .after"), /bob@example.com/);
  await one.fill("#reason", "Not to Bob: he left.");
  await one.click("button[value=reject]");
  const refused = await second;
  assert.equal(refused.errors[0].code, "DENIED");
  assert.match(refused.errors[0].message, /Not to Bob: he left\./);
  await two.bringToFront();
  await two.waitForSelector("#decision:not(:has(form))");
  await two.waitForSelector("#verdict:has-text('rejected')");

  // A late form gets a message.
  const third = call("mail.send", { to: "carol@example.com", subject: "Hello" });
  await one.goto(`${GATEWAY}/dashboard/approvals`);
  await one.waitForSelector("#waiting a.row");
  await one.click("#waiting a.row");
  await one.waitForSelector("#standing");
  await one.selectOption("#standing", "these-hour");
  await one.click("button[value=approve]");
  assert.equal((await third).ok, true);
  await one.waitForSelector("#verdict:has-text('approved')");

  // A standing rule is listed, allows the same call, and can be removed.
  assert.equal((await call("mail.send", { to: "carol@example.com", subject: "Hello" })).ok, true, "the rule allows it");
  await one.goto(`${GATEWAY}/dashboard/rules`);
  assert.match(await one.textContent("article.rule"), /carol@example.com/);
  await one.click("text=Delete rule");
  await one.waitForSelector("text=No standing rules");

  // Without a decision, both tabs show that the approval expires.
  await one.goto(`${GATEWAY}/dashboard/approvals`);
  await two.goto(`${GATEWAY}/dashboard/approvals`);
  await Promise.all([listening(one), listening(two)]);
  const fourth = call("brief.send", { to: "dan@example.com" });
  await one.waitForSelector("#waiting a.row:has-text('brief.send')");
  const timedOut = await fourth;
  assert.equal(timedOut.ok, false);
  for (const page of [one, two]) {
    await page.bringToFront();
    await page.waitForSelector("#decided a.row:has-text('expired')");
    await page.waitForSelector("#waiting:has-text('No pending approvals')");
  }
});
