// What the scenarios share: a browser, a signed-in page that complains about errors, and calls beside it.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";

const { MODULES, CHROMIUM, GATEWAY, TOKEN, SCREENS } = process.env;
const { chromium } = createRequire(path.join(MODULES, "x.js"))("playwright-core");

const PATIENCE = 20_000;

export { assert, GATEWAY, PATIENCE, TOKEN, SCREENS };

/** Plays a scenario in a browser of its own; a console error on any page fails it. */
export async function play(scenario) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "powerstrip-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    viewport: { width: 1280, height: 800 },
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync",
      // Nothing leaves this machine.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    ],
  });
  const errors = [];
  const watch = (page) => {
    page.on("console", (message) => message.type() === "error" && errors.push(`${message.location().url || page.url()}: ${message.text()}`));
    page.on("pageerror", (error) => errors.push(`${page.url()}: ${error.message}`));
    page.on("dialog", (dialog) => { errors.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  };
  const assets = process.env.ASSETS; // Of a checkout, to look at a change without building.
  if (assets) { await context.route("**/*-style.css", (r) => r.fulfill({ path: assets + "style.css", contentType: "text/css" })); await context.route("**/*-app.js", (r) => r.fulfill({ path: assets + "app.js", contentType: "text/javascript" })); }
  context.on("page", watch);
  context.pages().forEach(watch);
  context.setDefaultTimeout(PATIENCE);
  try {
    await scenario(context, errors);
    assert.deepEqual(errors, [], "no page complains");
  } finally {
    await context.close();
    fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A page of somebody who has signed in. */
export async function signedIn(context, place = "/dashboard") {
  const page = await context.newPage();
  await page.goto(`${GATEWAY}/dashboard/sign-in`);
  await page.fill("#token", TOKEN);
  await page.click("button.primary");
  await page.waitForURL(`${GATEWAY}/dashboard`);
  if (place !== "/dashboard") {
    await page.goto(`${GATEWAY}${place}`);
  }
  return page;
}

/** Calls a tool as an app would; the envelope, when it is there. */
export async function call(tool, input, signal, headers = {}) {
  const response = await fetch(`${GATEWAY}/mcp/tool/${tool}`, {
    method: "POST",
    signal,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(input),
  });
  return response.json();
}

/** Waits for the complaint that a browser makes by itself about an answer of ours that refuses, and forgets it. */
export async function complained(errors) {
  const ours = () => errors.filter((error) => error.startsWith(GATEWAY));
  for (const until = Date.now() + PATIENCE; ours().length === 0;) {
    assert.ok(Date.now() < until, "the browser notes the refusal");
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.equal(ours().length, 1, errors.join("\n"));
  errors.splice(errors.findIndex((error) => error.startsWith(GATEWAY)), 1);
}

/** Presses a key once it goes where it is meant to: a page has loaded a moment before the browser moves the focus. */
export async function pressIn(page, element, key) {
  await page.waitForSelector(`${element}:focus`);
  await page.keyboard.press(key);
}

/** Waits until a live page hears what happens. */
export const listening = (page) => page.waitForSelector("body[data-listening=yes]");
