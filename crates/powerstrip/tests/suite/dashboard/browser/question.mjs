import { GATEWAY, assert, call, play, signedIn } from "./kit.mjs";

await play(async (context) => {
  const run = { "powerstrip-run": "letter" };
  const question = {
    slot_type: "choice", slot_id: "tone", prompt_key: "Which <b>tone</b>?", options: ["plain", "warm"],
  };
  for (const message of ["one", "two"]) {
    assert.equal((await call("demo.echo", { message }, undefined, run)).ok, true);
  }
  // Repeats the call while the answer is `waiting`.
  const ask = async () => {
    for (;;) {
      const answer = await call("powerstrip:request_user_input", question, undefined, run);
      if (answer.data?.status !== "waiting") return answer;
    }
  };
  const asked = ask();

  // From the list to the question by keyboard only.
  const page = await signedIn(context, "/dashboard/runs");
  await page.waitForSelector("a.row:has-text('letter')");
  await page.focus("a.row:has-text('letter')");
  await page.keyboard.press("Enter");
  await page.waitForSelector("form.try");
  assert.match(await page.textContent("main"), /Which <b>tone<\/b>\?/, "shown as it was written");
  await page.focus("form.try input[value='1']");
  await page.keyboard.press("Space");
  await page.click("form.try button.primary");
  const answer = await asked;
  assert.equal(answer.data.value, "warm", JSON.stringify(answer));
  await page.waitForSelector("article.rule:has-text('answered by admin')");
  assert.equal(await page.locator("form.try").count(), 0, "it is answered once");
  assert.ok(page.url().startsWith(`${GATEWAY}/dashboard/runs/run_`));
});
