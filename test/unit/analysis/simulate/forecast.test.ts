import assert from "node:assert/strict";
import { test } from "node:test";
import { forecast, forecastNow } from "../../../../server/analysis/simulate/forecast.ts";
import { forecastPicture } from "../../../../server/analysis/simulate/forecastPicture.ts";
import { configOf, near } from "../../support.ts";

const bodyOf = (preset: string): ReturnType<typeof configOf>["top"] =>
  configOf(`extends: ${preset}\ntasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n`).top;

test("a forecast has shares of easy, middling and hard tasks; uniform sampling draws 3, 3 and 4 of ten levels", async () => {
  const body = bodyOf("grpo");
  assert.equal(forecastNow(body, 40, 1), undefined);
  const told = await forecast(body, 40, 1, "a");
  assert.equal(told?.length, 40);
  for (const shares of told)
    assert.ok(
      near(
        shares.reduce((sum, share) => sum + share, 0),
        1,
        1e-9,
      ),
    );
  [0.3, 0.3, 0.4].forEach((share, band) => {
    const mean = told.reduce((sum, shares) => sum + shares[band]!, 0) / 40;
    assert.ok(Math.abs(mean - share) < 4 * Math.sqrt((share * (1 - share)) / (40 * 16)), String(mean));
  });
  assert.equal(forecastNow(body, 40, 1), told);
});

test("SEC leaves the easy tasks as the learner masters them", async () => {
  const told = await forecast(bodyOf("sec"), 100, 1, "a");
  const easy = (from: number, to: number): number =>
    told!.slice(from, to).reduce((sum, [share]) => sum + share!, 0) / (to - from);
  assert.ok(easy(80, 100) < easy(0, 20) - 0.03, `${easy(0, 20)} → ${easy(80, 100)}`);
});

test("an edit gives up the forecast of the text before it, but for those whom others wait for", async () => {
  const body = bodyOf("dump");
  const first = forecast(body, 90, 1, "one");
  const shared = forecast(body, 91, 1, "other");
  assert.equal(forecast(body, 90, 1, "one"), first, "asked twice, simulated once");
  const joined = forecast(body, 91, 1, "one");
  const last = forecast(body, 92, 1, "one");
  assert.equal(await first, undefined);
  assert.equal(forecastNow(body, 90, 1), undefined);
  assert.equal((await shared)?.length, 91);
  assert.equal(await joined, await shared);
  assert.equal((await last)?.length, 92);
  assert.equal((await forecast(body, 90, 1, "one"))?.length, 90, "it can be asked for again");
});

test("the picture is an area for each band", () => {
  const svg = forecastPicture([
    [1, 0, 0],
    [0.2, 0.3, 0.5],
  ]);
  assert.equal(svg.match(/<polygon/g)?.length, 3);
  assert.ok(!svg.includes("NaN"));
});
