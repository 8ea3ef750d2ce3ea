// No page has a serious or critical finding of axe-core, in light on a desktop and in dark on a phone.
import fs from "node:fs";
import { GATEWAY, assert, play } from "./kit.mjs";
import { isExpected, prepare } from "./tour.mjs";

const axe = fs.readFileSync(process.env.AXE, "utf8");
const views = [
  ["light", { width: 1280, height: 800 }],
  ["dark", { width: 390, height: 844 }],
];

await play(async (context) => {
  const { page, pages, end } = await prepare(context);
  const findings = [];
  for (const [scheme, viewport] of views) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: scheme });
    for (const [name, place] of Object.entries(pages)) {
      await page.goto(`${GATEWAY}${place}`);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
      for (const { id, impact, nodes } of violations) {
        if (impact === "serious" || impact === "critical") {
          findings.push(`${name} (${scheme}): ${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(" | ")}`);
        }
      }
    }
  }
  assert.deepEqual(findings, []);
  await end();
}).catch((error) => {
  if (!isExpected(error)) {
    throw error;
  }
});
