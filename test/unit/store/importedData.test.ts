/** Imported rollouts and the data that they were asked from: dumps have none of its columns, and rewards take them. */
import { needs } from "../../../server/config/needs.ts";
import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { Rescoring } from "../../../server/analysis/rescore/rescore.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { RescoreSession } from "../../../server/analysis/rescore/session.ts";
import { loadFile } from "../../../server/frameworks/use/asConfig/load.ts";
import { runFolder } from "../../../server/store/files.ts";
import { importRun } from "../../../server/store/imported/importRun.ts";
import { summaryText } from "../../../server/store/imported/importSummary.ts";
import { loadReaders } from "../../../server/store/imported/readers.ts";
import { withoutPython } from "../../support/pythonReward.ts";
import { trlDump } from "../../support/trlDump.ts";
import { newStore } from "./support.ts";

before(loadReaders);

/** A copy of the TRL project next to a store, its dump imported. */
async function imported(
  more?: Parameters<typeof trlDump>[1],
  ask?: Parameters<typeof trlDump>[2],
  data: "here" | "gone" = "here",
) {
  const { folder, store } = newStore();
  const project = join(folder, "..");
  cpSync("test/fixtures/projects/trl", project, { recursive: true });
  const output = await trlDump(project, more, ask);
  if (data === "gone") rmSync(join(project, "data"), { recursive: true });
  const file = join(project, "train.py");
  const loaded = loadFile(file, { recorded: true, needs: needs.explained }).config!;
  const text = readFileSync(file, "utf8");
  const summary = await importRun({
    ...{ store: folder, folder: output, name: undefined, copy: false, version: "0.0.0" },
    config: { file, text, set: [], loaded, version: null },
    progress: () => undefined,
  });
  store.ingestAll(summary.run);
  const { run } = summary;
  const session = new RescoreSession(
    { id: run, name: run, folder: runFolder(folder, run), config: loaded, bundles: {} },
    (step) => Promise.resolve(store.queries.rolloutPlaces(run, step)),
  );
  const rows = (step: number) => store.queries.rollouts({ run, step, tokens: true, limit: 100 }).rollouts;
  return { loaded, summary, session, rows };
}
const options = { trusted: true, unsaved: {}, signal: new AbortController().signal };

test("a TRL dump's rows are found in the data, whose columns and messages its rewards get", async (t) => {
  const { loaded, summary, session } = await imported();
  try {
    assert.match(
      summaryText(summary),
      /· 16 of 16 rollouts of step 3 found in data\/train\.parquet · missing/,
    );
    assert.deepEqual([summary.needs, summary.missing.includes("answers")], [[], false]);
    if (withoutPython !== false) return t.skip(withoutPython);
    const { columns, notes } = await session.scored(loaded, 2, options);
    const [correct] = columns;
    assert.deepEqual(
      [correct?.name, correct?.errors.size],
      ["correct", 0],
      [...(correct?.errors.values() ?? [])][0],
    );
    assert.deepEqual([...(correct?.values ?? [])].slice(0, 8), [1, 0, 0, 0, 1, 0, 0, 0]);
    // The dump has no token ids: what takes them keeps what was recorded.
    assert.match(notes.join("\n"), /`brief` keeps its recorded values: it takes `completion_ids`/);
  } finally {
    await session.close();
  }
});

test("where the data are not here, the dump alone says what a reward lacks", async () => {
  const { summary, session } = await imported(undefined, undefined, "gone");
  await session.close();
  assert.deepEqual([summary.data, summary.needs], [null, [{ term: "correct", field: "solution" }]]);
  assert.match(summaryText(summary), /· `correct` needs `solution`, which is not in the dump/);
});

test("its rollouts are scored again without an editor, too", { skip: withoutPython }, async () => {
  const { loaded, summary, session, rows } = await imported();
  await session.close();
  const rescoring = new Rescoring(loaded, randomStream(0, "rescore"));
  try {
    const place = { file: summary.run, line: 0 };
    const scored = [];
    for await (const one of rescoring.rollouts(rows(1).map((row) => ({ row, place })))) scored.push(one);
    assert.deepEqual(
      scored.slice(0, 2).map(({ rewards, errors }) => [rewards, errors]),
      [1, 0].map((correct) => [{ correct, brief: 0.5, think_format_reward: 0 }, {}]),
    );
    assert.deepEqual([rescoring.summary.total.changed, rescoring.summary.total.errors], [0, 0]);
  } finally {
    await rescoring.close();
  }
});

test("a dump of other prompts is said to lack what a reward takes, unless a reward logged it", async (t) => {
  const other = (question: string): string => question.replace("Mia", "Ben");
  const bare = await imported(undefined, other);
  try {
    assert.match(
      summaryText(bare.summary),
      /· 0 of 16 rollouts of step 3 found in data\/train\.parquet · `correct` needs `solution`, which is not in the dump: log it with `log_extra\("solution", solution\)` in `correct` · missing: .*answers/,
    );
    if (withoutPython !== false) return t.skip(withoutPython);
    const { columns } = await bare.session.scored(bare.loaded, 2, options);
    assert.match(
      String([...columns[0]!.errors.values()][0]),
      /takes `solution`.*log_extra\("solution", solution\)/,
    );
  } finally {
    await bare.session.close();
  }
  const logged = await imported((row) => ({ solution: row["solution"] ?? null }), other);
  try {
    assert.deepEqual(logged.summary.needs, []);
    // The data are conversational: TRL hands messages over.
    const { columns } = await logged.session.scored(logged.loaded, 2, options);
    assert.deepEqual([...columns[0]!.values].slice(0, 4), [1, 0, 0, 0]);
  } finally {
    await logged.session.close();
  }
});
