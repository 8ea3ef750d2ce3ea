import { GATEWAY, assert, call, play, signedIn } from "./kit.mjs";

const script = "<script>document.title = 'pwned'</script><img src=x onerror=\"document.title = 'pwned'\">";
const input = {
  to: `${script}'"></textarea></pre></code>`,
  subject: "pay\u202emoc.live\u2066 \u200b\u{e0041}\u3164",
  body: `\u001b[2J\u001b]0;gone\u0007\u009b31m\r\n\ttext &amp; {{7*7}} ${"x".repeat(60_000)}`,
};

await play(async (context) => {
  const page = await signedIn(context, "/dashboard/approvals");
  const waiting = call("mail.send", input);
  await page.waitForSelector("#waiting a.row");
  assert.equal(await page.locator("#waiting script, #waiting img").count(), 0);
  await page.click("#waiting a.row");
  await page.waitForSelector("#arguments");
  const shown = await page.textContent("#arguments");
  assert.deepEqual(JSON.parse(shown), input, "all 60 KB are there, byte for byte");
  for (const hidden of ["\u202e", "\u2066", "\u200b", "\u001b", "\u0007", "\u009b", "\u{e0041}", "\u3164", "\r", "\t"]) {
    assert.ok(!shown.includes(hidden), `${JSON.stringify(hidden)} is written out`);
  }
  assert.ok(shown.includes("\\u202e") && shown.includes("\\u001b"));
  assert.equal(await page.locator("#arguments *").count(), 0, "text, and nothing but text");

  // A reviewer's reason is as inert as arguments.
  await page.fill("#reason", `${script} \u202e`);
  await page.click("button[value=reject]");
  assert.equal((await waiting).errors[0].code, "DENIED");
  await page.waitForSelector("blockquote");
  assert.equal(await page.locator("blockquote *").count(), 0);
  assert.ok((await page.textContent("blockquote")).includes("\\u{202e}"));

  // The name of an unknown tool is shown as text.
  await page.goto(`${GATEWAY}/dashboard/catalog?q=${encodeURIComponent(script)}`);
  await page.waitForSelector(".empty");
  await page.goto(`${GATEWAY}/dashboard/calls?tool=${encodeURIComponent(script)}`);
  assert.equal(await page.inputValue("input[name=tool]"), script);
  assert.notEqual(await page.title(), "pwned");
  assert.equal(await page.locator("main img").count(), 0);

  // A script in a page would not run.
  await page.evaluate(() => {
    const inline = document.createElement("script");
    inline.textContent = "document.title = 'pwned'";
    document.body.append(inline);
  });
  assert.notEqual(await page.title(), "pwned", "the policy forbids inline script");
}).catch((error) => {
  // The browser reports the blocked script; that is the only expected complaint.
  const expected = /no page complains/.test(error.message) && error.actual?.length === 1 && /Content Security Policy/.test(error.actual[0]);
  if (!expected) {
    throw error;
  }
});
