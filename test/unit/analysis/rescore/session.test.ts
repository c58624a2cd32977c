/** Scoring a real run's stored rollouts again: against the run's own records, and against sums done by hand. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { join } from "node:path";
import { loadConfig } from "../../../../server/rules/load.ts";
import type { RunConfig } from "../../../../server/core/config/runConfig.ts";
import { RescoreSession, type RescoreOptions } from "../../../../server/analysis/rescore/session.ts";
import { rangeOf, sampleOf, sweep } from "../../../../server/analysis/rescore/sweep.ts";
import { runFolder } from "../../../../server/store/files.ts";
import type { RunRecord } from "../../../../server/analysis/evidence/record.ts";
import type { RecordPlace } from "../../../../shared/log/recordAt.ts";
import type { Rescored } from "../../../../shared/rollouts/rescore.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { storedRun, type StoredRun } from "../../../support/storedRun.ts";
import { rewardHost } from "../../../support/rewardHost.ts";

const reward = `export function score({ response, length }) { return response.includes("a") ? length / 8 : 0; }\n`;
const text = readFileSync("test/fixtures/evidence/seen.gradus.yaml", "utf8")
  .replace("max_tokens: 3", "max_tokens: 8")
  .replace("use: success_band, low: 0.1, high: 0.9", "use: none")
  .replace('pattern: "zzz"', 'pattern: ".{4,6}"')
  .replace("    brevity:", "    mine: { use: ./mine.ts, weight: 0.5 }\n    brevity:");

describe("scoring stored rollouts again", () => {
  let run: StoredRun;
  let session: RescoreSession;
  let steps: readonly number[];
  const sessionOf = (
    { bundles }: Pick<RunRecord, "bundles">,
    places: (step: number) => readonly RecordPlace[],
  ): RescoreSession =>
    new RescoreSession(
      {
        id: "one",
        name: "seen",
        folder: runFolder(join(run.folder, ".gradus"), "one"),
        config: load(text),
        bundles,
      },
      (step) => Promise.resolve(places(step)),
    );
  before(async () => {
    await rewardHost();
    run = await storedRun(text, { "mine.ts": reward });
    steps = run.store.queries.rolloutSteps("one");
    const { record } = run.store.queries.fileRuns([run.file]);
    assert.ok(record);
    session = sessionOf(record, (step) => run.store.queries.rolloutPlaces("one", step));
  });
  after(async () => {
    await session.close();
    run.remove();
  });

  const load = (now: string): RunConfig => {
    const { config, diagnostics } = loadConfig(run.file, { text: now });
    assert.ok(config, diagnostics.map(({ message }) => message).join("; "));
    return config;
  };
  const options = (more: Partial<RescoreOptions> = {}): RescoreOptions => ({
    trusted: true,
    unsaved: {},
    signal: new AbortController().signal,
    ...more,
  });
  async function all(now: string, more: Partial<RescoreOptions> = {}): Promise<Rescored[]> {
    const found: Rescored[] = [];
    for await (const rescored of session.change(load(now), steps, options(more))) found.push(rescored);
    return found;
  }
  const last = async (now: string, more: Partial<RescoreOptions> = {}): Promise<Rescored> =>
    (await all(now, more)).at(-1)!;
  const rows = (): readonly RolloutRow[] =>
    run.store.queries.rollouts({ run: "one", where: 'use == "train"', tokens: false, limit: 10_000 })
      .rollouts;

  it("changes nothing where the config is the run's, and agrees with what the run recorded", async () => {
    const { change, most, notes, steps: scored, of } = await last(text);
    assert.deepEqual({ scored, of, most, notes }, { scored: 24, of: 24, most: [], notes: [] });
    const { rankFlips, signFlips, gained, lost, mean, rollouts } = change;
    assert.deepEqual(
      { rankFlips, signFlips, gained, lost, rollouts },
      { rankFlips: 0, signFlips: 0, gained: 0, lost: 0, rollouts: rows().length },
    );
    const recorded = rows().map(({ reward: total }) => Number(total));
    const expected = recorded.reduce((sum, value) => sum + value, 0) / recorded.length;
    assert.ok(Math.abs(Number(mean.before) - expected) < 1e-9 && mean.now === mean.before);
  });

  it("asks for the next step's rollouts while one is scored", async () => {
    const asked: number[] = [];
    const own = sessionOf({ bundles: {} }, (step) => {
      asked.push(step);
      return run.store.queries.rolloutPlaces("one", step);
    });
    for await (const { steps: scored } of own.change(load(text), steps, options())) {
      assert.equal(scored, 1);
      break;
    }
    assert.deepEqual(asked, steps.slice(-2).toReversed());
    await own.close();
  });

  it("reports the last step first", async () => {
    const [first] = await all(text.replace("weight: 0.5", "weight: -2"));
    assert.deepEqual(
      { from: first?.from, to: first?.to, steps: first?.steps, of: first?.of },
      { from: 33, to: 33, steps: 1, of: 24 },
    );
  });

  it("counts as one does by hand when a weight is another", async () => {
    const { change, most } = await last(text.replace("weight: 0.5", "weight: -2"));
    const groups = new Map<string, RolloutRow[]>();
    for (const row of rows())
      groups.set(`${row.step}/${row.group}`, [...(groups.get(`${row.step}/${row.group}`) ?? []), row]);
    const now = (row: RolloutRow): number => Number(row.reward) - 2.5 * Number(row.rewards?.["mine"]);
    let [rankFlips, signFlips, gained, lost, sum] = [0, 0, 0, 0, 0];
    for (const group of groups.values()) {
      const [was, is] = [group.map(({ reward: total }) => Number(total)), group.map(now)];
      const others = (values: number[], i: number): number =>
        values[i]! -
        values.filter((_, j) => j !== i).reduce((all, value) => all + value, 0) / (values.length - 1);
      group.forEach((_, i) => {
        sum += is[i]!;
        if (others(was, i) * others(is, i) < -1e-12) signFlips++;
        for (let j = 0; j < i; j++) if ((was[i]! - was[j]!) * (is[i]! - is[j]!) < -1e-12) rankFlips++;
      });
      const vary = (values: number[]): boolean =>
        values.some((value) => Math.abs(value - values[0]!) > 1e-12);
      gained += Number(vary(is) && !vary(was));
      lost += Number(vary(was) && !vary(is));
    }
    assert.ok(rankFlips > 0 && signFlips > 0, "the edit must change something");
    assert.deepEqual(
      { rankFlips: change.rankFlips, signFlips: change.signFlips, gained: change.gained, lost: change.lost },
      { rankFlips, signFlips, gained, lost },
    );
    assert.ok(Math.abs(Number(change.mean.now) - sum / rows().length) < 1e-9);
    assert.equal(most.length, 5);
    const sizes = most.map(({ advantage }) => Math.abs(Number(advantage.now) - Number(advantage.before)));
    assert.deepEqual(
      sizes,
      sizes.toSorted((a, b) => b - a),
    );
  });

  it("computes a term whose parameters are others, and one that is new", async () => {
    const { change } = await last(text.replace('pattern: ".{4,6}"', 'pattern: ".{8}"'));
    const format = change.terms.find(({ term }) => term === "format");
    const fits = rows().filter(({ response }) => /^.{8}$/su.test(response ?? "")).length;
    assert.equal(format?.now, fits / rows().length);
    assert.equal(
      format?.changed,
      rows().filter(
        ({ response, rewards }) => Number(/^.{8}$/su.test(response ?? "")) !== rewards?.["format"],
      ).length,
    );
    const added = await last(
      text.replace("    brevity:", '    extra: { use: format, pattern: "b.*" }\n    brevity:'),
    );
    const extra = added.change.terms.find(({ term }) => term === "extra");
    assert.equal(extra?.before, null);
    assert.equal(
      extra?.now,
      rows().filter(({ response }) => (response ?? "").startsWith("b")).length / rows().length,
    );
  });

  it("runs the user's function as it is in the editor, and keeps an error apart from 0", async () => {
    const file = join(run.folder, "mine.ts");
    const doubled = await last(text, { unsaved: { [file]: reward.replace("length / 8", "length / 4") } });
    const mine = doubled.change.terms.find(({ term }) => term === "mine");
    assert.ok(Math.abs(Number(mine?.now) - 2 * Number(mine?.before)) < 1e-9, JSON.stringify(mine));
    const failing = await last(text, {
      unsaved: { [file]: `export const score = () => { throw new Error("no"); };` },
    });
    const failed = failing.change.terms.find(({ term }) => term === "mine");
    assert.deepEqual({ errors: failed?.errors, now: failed?.now }, { errors: rows().length, now: null });
    assert.equal(failing.change.mean.now, null);
    const broken = await last(text, { unsaved: { [file]: "export const score = (" } });
    assert.match(broken.notes.join(), /`mine` keeps its recorded values: reward term "mine"/);
    assert.equal(broken.change.signFlips, 0);
  });

  it("runs nothing of a workspace that is not trusted", async () => {
    const file = join(run.folder, "mine.ts");
    const { change } = await last(text, { trusted: false, unsaved: { [file]: "throw 1" } });
    assert.equal(change.terms.find(({ term }) => term === "mine")?.changed, 0);
    const other = await last(text.replace("./mine.ts, ", "./mine.ts, args: { a: 1 }, "), { trusted: false });
    assert.match(
      other.notes.join(),
      /`mine` keeps its recorded values: its file runs only in a trusted workspace/,
    );
  });

  it("computes in a workspace that is not trusted only what says that it only computes", async () => {
    const planted = join(run.folder, "planted");
    writeFileSync(planted, `#!/bin/sh\necho ran >> "$0.ran"\n`, { mode: 0o755 });
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? "");
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const held = [
      "{ use: math, by: math_verify, python: ./planted }",
      "{ use: math, python: ./planted }",
      "{ use: reasoning_gym, python: ./planted }",
      `{ use: remote_rm, url: "http://127.0.0.1:${port}/x" }`,
      "{ use: unit_tests }",
    ];
    try {
      for (const term of held) {
        const edited = text.replace("    mine:", `    other: ${term}\n    mine:`);
        const { notes } = await last(edited, { trusted: false });
        assert.match(notes.join(), /`other` keeps its recorded values: .*only in a trusted workspace/, term);
      }
    } finally {
      server.close();
    }
    assert.deepEqual({ ran: existsSync(`${planted}.ran`), requests }, { ran: false, requests: [] });
    const pure = text.replace('pattern: ".{4,6}"', 'pattern: ".{8}"');
    const [trusted, untrusted] = [await last(pure), await last(pure, { trusted: false })];
    assert.deepEqual(untrusted.change, trusted.change);
  });

  it("ends between two steps when the next edit comes", async () => {
    const abort = new AbortController();
    await assert.rejects(async () => {
      for await (const { steps: done } of session.change(
        load(text),
        steps,
        options({ signal: abort.signal }),
      ))
        if (done === 1) abort.abort();
    }, /abort/i);
  });

  it("ends a function that hangs, and what waits after it is not tried for ever", async () => {
    const file = join(run.folder, "mine.ts");
    const hanging = text.replace("weight: 0.5 }", "weight: 0.5, timeout: 0.1 }");
    const [first] = await all(hanging, { unsaved: { [file]: "export const score = () => { for (;;); };" } });
    assert.equal(first?.change.terms.find(({ term }) => term === "mine")?.errors, 16);
  });

  it("sweeps a weight: no flips at the weight the run had, a share that grows with the weight", async () => {
    const swept = await sweep(session, load(text), steps, { term: "mine" }, options());
    assert.equal(swept.weight, 0.5);
    const here = swept.points.find(({ weight }) => weight === 0.5);
    assert.deepEqual(
      { signFlips: here?.signFlips, rankFlips: here?.rankFlips, gained: here?.gained, lost: here?.lost },
      { signFlips: 0, rankFlips: 0, gained: 0, lost: 0 },
    );
    const shares = swept.points.map(({ share }) => share);
    assert.equal(shares[0], 0);
    assert.ok(shares.every((share, index) => index === 0 || share > shares[index - 1]!));
    assert.deepEqual({ from: swept.from, to: swept.to }, { from: steps[0], to: steps.at(-1) });
    assert.ok((swept.steps ?? 0) > 1 && swept.of === steps.length);
    assert.match(swept.picture, /^<svg .*<polyline .*<\/svg>$/);
    await assert.rejects(
      sweep(session, load(text), steps, { term: "nobody" }, options()),
      /no reward term "nobody"/,
    );
  });

  it("looks at steps of the whole run, spread however few there is time for", () => {
    const whole = Array.from({ length: 420 }, (_, step) => 40 + step);
    const sample = sampleOf(whole, 16);
    assert.equal(new Set(sample).size, 16);
    assert.deepEqual(sample.slice(0, 2), [459, 40]);
    for (const taken of [2, 3, 5, 9, 16]) {
      const seen = sample.slice(0, taken).toSorted((one, other) => one - other);
      const gaps = seen.slice(1).map((step, i) => step - seen[i]!);
      assert.ok(Math.max(...gaps) <= (2.2 * 419) / (taken - 1), `${taken}: ${seen.join()}`);
    }
    assert.deepEqual(sampleOf([7], 16), [7]);
    assert.deepEqual(sampleOf([7, 9], 16), [9, 7]);
    assert.deepEqual([...sampleOf([1, 2, 3], 16)].sort(), [1, 2, 3]);
    assert.deepEqual(sampleOf([], 16), []);
  });

  it("sweeps from 0 to twice the weight", () => {
    assert.deepEqual([rangeOf(0.5)[0], rangeOf(0.5).at(-1), rangeOf(0.5).includes(0.5)], [0, 1, true]);
    assert.deepEqual([rangeOf(0)[0], rangeOf(0).at(-1)], [0, 1]);
    assert.deepEqual([rangeOf(-0.2)[0], rangeOf(-0.2).at(-1)], [0, -0.4]);
    assert.ok(rangeOf(0.3, 0, 1).includes(0.3));
  });
});
