// Every page at two widths in two colour schemes: nothing is wider than the screen, every control has a name, and a
// screenshot is taken for review.
import fs from "node:fs";
import path from "node:path";
import { GATEWAY, SCREENS, assert, play } from "./kit.mjs";
import { isExpected, prepare } from "./tour.mjs";

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

await play(async (context) => {
  fs.mkdirSync(SCREENS, { recursive: true });
  const { page, pages, end } = await prepare(context);
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
  await end();
}).catch((error) => {
  if (!isExpected(error)) {
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
