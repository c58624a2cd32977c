/** Evaluations of verifiers and Inspect, and runs of tinker-cookbook: fixtures made by the real packages (test/fixtures/trackers/README.md). */
import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  createWriteStream,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { test } from "node:test";
import { ZipFile } from "yazl";
import { tinkerRows } from "../../../server/analysis/imported/tinkerRows.ts";
import { ZipMembers } from "../../../server/store/archive/zipMembers.ts";
import { InspectFeed } from "../../../server/store/imported/feeds/evaluations/inspectFeed.ts";
import { VerifiersFeed } from "../../../server/store/imported/feeds/evaluations/verifiersFeed.ts";
import { TinkerFeed } from "../../../server/store/imported/feeds/tinker/tinkerFeed.ts";
import type { Feed, FeedPart } from "../../../server/store/imported/feeds/feed.ts";
import { findSource } from "../../../server/store/imported/findSource.ts";
import { summaryText } from "../../../server/store/imported/importSummary.ts";
import { isObject, objectOf, type JsonObject } from "../../../shared/lib/json.ts";
import { imported } from "./importedFeed.ts";
import { ingestWhole, newFolder } from "./support.ts";

const fixtures = "test/fixtures/trackers";
const verifiers = join(fixtures, "verifiers", "sums--mock--ab12");
const [evalName = ""] = readdirSync(join(fixtures, "inspect"));
const evalFile = join(fixtures, "inspect", evalName);
const tinker = join(fixtures, "tinker", "sums");

type Read = Awaited<ReturnType<typeof imported>>;
function rolloutsOf({ store, summary }: Read, step?: number) {
  ingestWhole(store, summary.run);
  const where = step === undefined ? {} : { step };
  return store.queries.rollouts({ run: summary.run, ...where, tokens: true, limit: 100 }).rollouts;
}

/** What a feed has now. */
function partsOf(feed: Feed, last = false): readonly FeedPart[] {
  const parts: FeedPart[] = [];
  for (let more = true; more;) {
    const slice = feed.next(last);
    parts.push(...slice.parts);
    more = slice.more;
  }
  return parts;
}

test("verifiers' episodes are rollouts that evaluate, those of a task in one group", async () => {
  const read = await imported(join(fixtures, "verifiers"));
  assert.equal(
    summaryText(read.summary),
    "verifiers 0.4.0 · 4 rollouts of evaluations · groups as they were recorded",
  );
  assert.deepEqual(read.summary.notes, ["1 episode without a trace, since it failed before an answer"]);
  assert.deepEqual(
    [read.show.name, read.show.config["model"], read.listed?.status],
    ["sums--mock--ab12", "mock", "finished"],
  );
  const rows = rolloutsOf(read);
  // The judge of an episode is no rollout of it.
  assert.deepEqual(
    rows.map(({ group, index, use, prompt, response, reward, finish }) => [
      group,
      index,
      use,
      prompt,
      response,
      reward,
      finish,
    ]),
    [
      ["sum-2", 0, "evaluate", "system: Answer.\n\nuser: 2 + 2 =", "4", 1.25, "stop"],
      ["sum-2", 1, "evaluate", "system: Answer.\n\nuser: 2 + 2 =", "1", 0.25, "length"],
      ["sum-3", 0, "evaluate", "system: Answer.\n\nuser: 3 + 3 =", "6", 1.25, "stop"],
      [
        "sum-3",
        1,
        "evaluate",
        "system: Answer.\n\nuser: 3 + 3 =",
        'Let me add.\nadd({"a": 3, "b": 3})\n6\n6',
        1.25,
        "stop",
      ],
    ],
  );
  assert.deepEqual([rows[0]?.task?.data?.["answer"], rows[0]?.rewards], ["4", { correct: 1, brief: 0.5 }]);
  const values = ["eval/reward/total", "eval/reward/correct", "eval/pass@1", "eval/pass@2"].map(
    (name) => read.series(name)?.values,
  );
  assert.deepEqual(values, [[1], [0.75], [0.75], [1]]);
});

test("verifiers' lines come as they are written, of a training by its steps, and as traces alone", () => {
  const folder = join(newFolder(), "run");
  mkdirSync(join(folder, "configs", "resolved"), { recursive: true });
  const file = join(folder, "traces.jsonl");
  writeFileSync(file, "");
  const source = findSource(folder);
  assert.equal(source.trainer, "verifiers");
  const feed = new VerifiersFeed(folder);
  const [first = "", second = ""] = readFileSync(join(verifiers, "traces.jsonl"), "utf8").split("\n");
  appendFileSync(file, `${first}\n${second.slice(0, 100)}`);
  assert.deepEqual(
    partsOf(feed, false).map(({ rows }) => rows?.length),
    [1],
  );
  assert.deepEqual(partsOf(feed, false), []);
  appendFileSync(file, `${second.slice(100)}\nno JSON\n`);
  const [part] = partsOf(feed, false);
  assert.deepEqual(
    [part?.rows?.[0]?.group, part?.rows?.[0]?.index, part?.values?.["eval/pass@1"]],
    ["sum-2", 1, 0.5],
  );
  const episode = JSON.parse(first);
  const work = { type: "train", step: 7, policy: { start: 5, end: 5 } };
  appendFileSync(file, `${JSON.stringify({ ...episode, run: { type: "train", id: "r", work } })}\n`);
  appendFileSync(file, JSON.stringify(episode.traces[0]));
  assert.deepEqual(
    partsOf(feed, true).map(({ step, rows, values }) => [
      step,
      rows?.[0]?.use,
      rows?.[0]?.group,
      values?.["rollout/staleness"],
    ]),
    [
      [7, "train", "e20", 1],
      [1, "evaluate", "sum-2", undefined],
    ],
  );
  assert.deepEqual(feed.about().notes, ["1 line left out, since it is no episode"]);
});

test("Inspect's samples are rollouts that evaluate, the epochs of each in one group", async () => {
  const read = await imported(join(fixtures, "inspect"));
  assert.equal(
    summaryText(read.summary),
    "Inspect 0.3.285 · 4 rollouts of evaluations · groups as they were recorded",
  );
  assert.deepEqual(
    [read.show.name, read.show.config["model"], read.listed?.status],
    ["sums", "mockllm/model", "finished"],
  );
  const rows = rolloutsOf(read);
  assert.deepEqual(
    rows.map(({ group, index, use, prompt, response, reward, finish }) => [
      group,
      index,
      use,
      prompt,
      response,
      reward,
      finish,
    ]),
    [
      ["sum-2", 0, "evaluate", "system: Answer.\n\nuser: 2 + 2 =", "4", 1, "stop"],
      ["sum-3", 0, "evaluate", "system: Answer.\n\nuser: 3 + 3 =", "6", 1, "stop"],
      ["sum-2", 1, "evaluate", "system: Answer.\n\nuser: 2 + 2 =", "5 or 6", 0, "length"],
      ["sum-3", 1, "evaluate", "system: Answer.\n\nuser: 3 + 3 =", "5 or 6", 1, "length"],
    ],
  );
  assert.deepEqual(
    [rows[0]?.task, rows[0]?.rewards, rows[0]?.weights],
    [
      { env: "sums", arm: "sums", id: "sum-2", data: { k: 2 }, answer: "4" },
      { includes: 1, "shape/length": 1, "shape/even": 0 },
      { includes: 1, "shape/length": 0, "shape/even": 0 },
    ],
  );
  const values = ["eval/reward/total", "includes/accuracy", "length/mean", "eval/pass@1", "eval/pass@2"].map(
    (name) => read.series(name)?.values,
  );
  assert.deepEqual(values, [[0.75], [0.75], [3.5], [0.75], [1]]);
});

/** The members of the fixture, some of them or changed, in a file with deflate. */
async function repacked(
  file: string,
  change: (name: string, value: JsonObject) => JsonObject | undefined,
): Promise<void> {
  const zip = new ZipMembers(evalFile);
  const packed = new ZipFile();
  for (const member of zip.members) {
    const value: unknown = JSON.parse(zip.read(member).toString("utf8"));
    const changed = isObject(value) ? change(member.name, value) : undefined;
    if (changed !== undefined) packed.addBuffer(Buffer.from(JSON.stringify(changed)), member.name);
  }
  zip.close();
  packed.end();
  mkdirSync(dirname(file), { recursive: true });
  await pipeline(packed.outputStream, createWriteStream(file));
}

test("an evaluation of Inspect is followed while its file is written again, with members in deflate", async () => {
  const file = join(newFolder(), "sums.eval");
  await repacked(file, (name, value) =>
    /^(_journal\/start|samples\/sum-2_epoch_1)/.test(name) ? value : undefined,
  );
  const feed = new InspectFeed(file);
  const early = feed.next(false);
  assert.deepEqual(
    early.parts.map(({ rows }) => rows?.length),
    [1],
  );
  assert.deepEqual(
    [feed.about().name, feed.about().version, feed.about().ended],
    ["sums", "0.3.285", undefined],
  );
  assert.deepEqual(partsOf(feed, false), []);
  await repacked(file, (name, value) => {
    if (name === "header.json") return { ...value, status: "error" };
    if (!name.startsWith("samples/sum-3")) return value;
    const message = {
      role: "assistant",
      content: [
        { type: "reasoning", reasoning: "hm" },
        { type: "text", text: "attachment://a1" },
      ],
      tool_calls: [{ id: "c", function: "add", arguments: { a: 3 } }],
    };
    return {
      ...value,
      messages: [{ role: "user", content: "attachment://a2" }, message],
      attachments: { a1: "long", a2: "asked" },
      error: { message: "The sandbox has gone." },
      scores: { judge: { value: "P" } },
    };
  });
  const [part] = partsOf(feed, false);
  assert.equal(part?.rows?.length, 3);
  const row = part?.rows?.find(({ group }) => group === "sum-3");
  assert.deepEqual(
    [row?.prompt, row?.response, row?.finish, row?.failed, row?.rewards, row?.reward],
    ["asked", '<think>hm</think>\nlong\nadd({"a":3})', "error", "The sandbox has gone.", { judge: 0.5 }, 0.5],
  );
  assert.equal(feed.about().ended?.status, "failed");
});

test("a file of Inspect that is cut is waited for, and refused at an import", async () => {
  const file = join(newFolder(), "sums.eval");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, readFileSync(evalFile).subarray(0, 5000));
  assert.deepEqual(new InspectFeed(file).next(false).parts, []);
  await assert.rejects(imported(file), /This log of Inspect cannot be read: it has no directory/);
  const bytes = readFileSync(evalFile);
  bytes[60]! ^= 1;
  writeFileSync(file, bytes);
  const feed = new InspectFeed(file);
  feed.next(true);
  assert.ok(feed.about().version === "0.3.285");
});

test("a run of tinker-cookbook: metrics, and rollouts whose texts are in the logtree", async () => {
  const read = await imported(join(fixtures, "tinker"));
  assert.equal(
    summaryText(read.summary),
    "tinker-cookbook · 2 steps · 8 rollouts · 4 rollouts of evaluations · groups as they were recorded · no advantages: name the run's config with --config to compute them · missing: log-probs",
  );
  assert.deepEqual(read.summary.notes, []);
  assert.deepEqual(read.show.config, { learning_rate: 0.00001, group_size: 2 });
  assert.deepEqual(read.series("reward/total"), { steps: [0, 1], values: [0.5, 0.75] });
  assert.deepEqual(read.series("eval/reward/total")?.values, [1, 1]);
  assert.deepEqual(read.series("update/lr")?.values, [0.00001, 0.00001]);
  assert.ok(!read.names.names.includes("cost/total"));
  const rows = rolloutsOf(read, 0);
  assert.deepEqual(
    rows.map(({ group, index, use, prompt, response, reward, policy }) => [
      group,
      index,
      use,
      prompt,
      response,
      reward,
      policy?.start,
    ]),
    [
      ["eval/sums/0", 0, "evaluate", "5 + 5 =", "10", 1, 0],
      ["eval/sums/0", 1, "evaluate", "5 + 5 =", "10", 1, 0],
      ["0", 0, "train", "2 + 2 =", "4", 1, 0],
      ["0", 1, "train", "2 + 2 =", "5", 0, 0],
      ["1", 0, "train", "3 + 3 =", "6", 1, 0],
      ["1", 1, "train", "3 + 3 =", "7", 0, 0],
    ],
  );
  assert.deepEqual(rows[3]?.components, { reward: { format: 1, correct: 0 } });
  assert.deepEqual(read.series("rollout/staleness")?.values, [0, 0]);
});

test("tinker-cookbook's texts go to the rollouts whose numbers they have, and to none where they do not fit", () => {
  const lines = readFileSync(join(tinker, "iteration_000000", "train_rollout_summaries.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line): JsonObject => objectOf(JSON.parse(line)));
  const tree = objectOf(
    JSON.parse(readFileSync(join(tinker, "iteration_000000", "train_logtree.json"), "utf8")),
  )["root"];
  const [a, b, c, d] = lines;
  // The first group was taken out of the batch: the second is the first of the summary.
  const moved = tinkerRows(
    [c!, d!].map((line) => ({ ...line, group_idx: 0 })),
    tree,
    0,
    "train",
  );
  assert.deepEqual(
    moved.map(({ response }) => response),
    ["4", "5"],
  );
  // They ended in the other order.
  assert.deepEqual(
    tinkerRows([b!, a!], tree, 0, "train").map(({ response }) => response),
    [undefined, undefined],
  );
  const longer = { ...c!, steps: [{ ...objectOf((c!["steps"] as JsonObject[])[0]), ac_len: 99 }] };
  assert.deepEqual(
    tinkerRows([longer, d!], tree, 0, "train").map(({ response, reward }) => [response, reward]),
    [
      [undefined, 1],
      [undefined, 0],
    ],
  );
});

test("tinker-cookbook's folder is followed: a step's rollouts come with its metrics, in both layouts", () => {
  const folder = join(newFolder(), "run");
  cpSync(tinker, folder, { recursive: true });
  const metrics = readFileSync(join(folder, "metrics.jsonl"), "utf8").split("\n");
  writeFileSync(join(folder, "metrics.jsonl"), `${metrics[0]}\n${metrics[1]?.slice(0, 20)}`);
  for (const name of readdirSync(join(folder, "iteration_000001")))
    cpSync(
      join(folder, "iteration_000001", name),
      join(folder, name.replace(/^(train|eval_sums)_/, "$1_iteration_000001_")),
    );
  rmSync(join(folder, "iteration_000001"), { recursive: true });
  const feed = new TinkerFeed(folder);
  const shape = (last: boolean) =>
    partsOf(feed, last).map(({ step, rows = [], values = {} }) => [
      step,
      rows.length,
      values["reward/total"],
    ]);
  assert.deepEqual(shape(false), [
    [0, 0, 0.5],
    [0, 6, undefined],
  ]);
  assert.deepEqual(shape(false), []);
  appendFileSync(join(folder, "metrics.jsonl"), `${metrics[1]?.slice(20)}\n`);
  assert.deepEqual(shape(false), [
    [1, 0, 0.75],
    [1, 6, undefined],
  ]);
  rmSync(join(folder, "iteration_000000", "train_logtree.json"));
  const again = new TinkerFeed(folder);
  partsOf(again, true);
  assert.match(again.about().notes[0] ?? "", /^4 rollouts have rewards but no texts/);
});
