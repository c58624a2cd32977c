/** A run with a Python reward: it trains, records what the reward says, and scores again what an editor holds. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { why } from "../../../../server/analysis/explain/why.ts";
import { RescoreSession, type RescoreOptions } from "../../../../server/analysis/rescore/session.ts";
import type { RunConfig } from "../../../../server/core/config/runConfig.ts";
import { RewardFiles } from "../../../../server/daemon/rewardFiles.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import { runFolder } from "../../../../server/store/files.ts";
import type { Rescored } from "../../../../shared/rollouts/rescore.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { pythonRunText, withoutPython } from "../../../support/pythonReward.ts";
import { storedRun, type StoredRun } from "../../../support/storedRun.ts";

const reward = `def compute_score(solution_str, ground_truth, data_source=None, extra_info=None):
    if "e" in solution_str:
        raise ValueError("an e")
    return {"score": len(solution_str) / 8, "vowels": sum(c in "aiou" for c in solution_str), "source": data_source}
`;

describe("a run with a Python reward", { skip: withoutPython }, () => {
  let run: StoredRun;
  let session: RescoreSession;
  let bundles: Readonly<Record<string, string>>;
  before(async () => {
    run = await storedRun(pythonRunText, { "mine.py": reward });
    const { record } = run.store.queries.fileRuns([run.file]);
    assert.ok(record);
    ({ bundles } = record);
    session = new RescoreSession(
      {
        id: "one",
        name: "seen",
        folder: runFolder(join(run.folder, ".gradus"), "one"),
        config: load(),
        bundles,
      },
      (step) => Promise.resolve(run.store.queries.rolloutPlaces("one", step)),
    );
  });
  after(async () => {
    await session.close();
    run.remove();
  });
  const load = (): RunConfig => {
    const { config, diagnostics } = loadConfig(run.file, { text: pythonRunText });
    assert.ok(config, diagnostics.map(({ message }) => message).join("; "));
    return config;
  };
  const last = async (more: Partial<RescoreOptions> = {}): Promise<Rescored> => {
    const found: Rescored[] = [];
    const options = { trusted: true, unsaved: {}, signal: new AbortController().signal, ...more };
    for await (const one of session.change(load(), run.store.queries.rolloutSteps("one"), options))
      found.push(one);
    return found.at(-1)!;
  };
  const rows = (): readonly RolloutRow[] =>
    run.store.queries.rollouts({ run: "one", where: 'use == "train"', tokens: false, limit: 1000 }).rollouts;

  it("records each rollout's reward, components and error, and charts the components", () => {
    assert.equal(rows().length, 24);
    for (const { response = "", rewards, components, errors } of rows())
      if (response.includes("e"))
        assert.match(errors?.["mine"] ?? "", /threw ValueError: an e \(mine\.py:3\)$/);
      else {
        assert.equal(rewards?.["mine"], response.length / 8);
        assert.deepEqual(components?.["mine"], { vowels: response.replaceAll(/[^aiou]/g, "").length });
      }
    const vowels = rows().flatMap(({ step, components }) =>
      step === 1 ? (components?.["mine"]?.["vowels"] ?? []) : [],
    );
    const { series } = run.store.queries.series({
      run: "one",
      metrics: ["reward/mine/component/vowels"],
      from: -1,
      maxPoints: 2000,
    });
    const at = series[0]?.steps.indexOf(1) ?? -1;
    assert.equal(
      series[0]?.values[at],
      vowels.map(Number).reduce((sum, one) => sum + one, 0) / vowels.length,
    );
  });

  it("finds rollouts by a component, and explains that it counts nothing", () => {
    const found = run.store.queries.rollouts({
      run: "one",
      where: 'components.mine["vowels"] >= 1 && use == "train"',
      tokens: true,
      limit: 1000,
    }).rollouts;
    const expected = rows().filter(({ components }) => Number(components?.["mine"]?.["vowels"] ?? 0) >= 1);
    assert.ok(expected.length > 0 && found.length === expected.length);
    const { step, group, index } = found[0]!;
    const all = run.store.queries.rollouts({
      run: "one",
      where: `step == ${step}`,
      tokens: true,
      limit: 1000,
    });
    const recorded = all.rollouts.map((row, line) => ({ row, place: { file: "", line } }));
    const { words } = why(load(), recorded, { step, group, index });
    assert.match(
      words.map(({ text: said }) => said).join("\n"),
      /`mine` also gave vowels \d: recorded, not summed\./,
    );
  });

  it("scores again what an editor holds, and says which line fails", async () => {
    const file = join(run.folder, "mine.py");
    assert.equal((await last()).change.terms.find(({ term }) => term === "mine")?.changed, 0);
    const doubled = await last({ unsaved: { [file]: reward.replace("/ 8", "/ 4") } });
    const mine = doubled.change.terms.find(({ term }) => term === "mine");
    assert.ok(Math.abs(Number(mine?.now) - 2 * Number(mine?.before)) < 1e-9, JSON.stringify(mine));
    const failing = await last({ unsaved: { [file]: reward.replace("/ 8", "/ 0") } });
    assert.equal(failing.change.terms.find(({ term }) => term === "mine")?.errors, rows().length);
    assert.equal(failing.change.failed, rows().length);
    // Halved where it does not fail: what fails now counts on neither side.
    const half = await last({
      unsaved: { [file]: reward.replace("/ 8", '/ (16 if len(solution_str) % 2 else "none")') },
    });
    const { mean } = half.change;
    assert.ok(half.change.failed !== undefined && half.change.failed < rows().length);
    assert.ok(Math.abs(2 * Number(mean.now) - Number(mean.before)) < 1e-9, JSON.stringify(mean));
    const broken = await last({ unsaved: { [file]: "def compute_score(" } });
    assert.match(broken.notes.join(), /`mine` keeps its recorded values: .*does not parse: .*\(mine\.py:1\)/);
    const distrusted = await last({ trusted: false, unsaved: { [file]: "raise SystemExit" } });
    assert.equal(distrusted.change.terms.find(({ term }) => term === "mine")?.changed, 0);
  });

  it("knows its file by the hash that it recorded", async () => {
    const file = join(run.folder, "mine.py");
    const same = (): Promise<boolean> =>
      new Promise((resolve) => {
        const files = new RewardFiles(() => resolve(files.same(file, bundles["mine"] ?? "", 0)));
        assert.ok(!files.same(file, bundles["mine"] ?? "", 0), "its hash is not known yet");
      });
    assert.ok(await same());
    writeFileSync(file, reward.replace("/ 8", "/ 2"));
    assert.ok(!(await same()));
  });
});
