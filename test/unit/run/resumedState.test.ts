/** What a resumed run remembers: wherever it lies now, however its config is written, whichever version began it. */
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { after, before, test } from "node:test";
import { withDrive } from "../../../shared/lib/drive.ts";
import { sumsFile } from "../../../server/run/checkpoint/sums.ts";
import { work } from "../../../server/run/loop/worker.ts";
import { essence, ofKind, readLog } from "../../support/runFolder.ts";

const config = `name: remembers
model: { base: tiny, width: 16, layers: 1, heads: 1, hidden: 16, context: 48 }
models: { critic: { base: tiny, width: 16, layers: 1, heads: 1, hidden: 16, context: 48, value_heads: [value], trains: true, optimizer: { use: adamw, lr: 0.01 } } }
tasks:
  - { name: easy, env: reverse_text, lengths: [1, 2] }
  - { name: written, dataset: data/lines.jsonl, prompt: "{question}", answer: answer }
  - { name: new, generate: { from: [easy], every: 2, parents: 2, tries: 2, gates: [builds] } }
rollout: { prompts: 4, group: 4, max_tokens: 6 }
curriculum: { arms: difficulty, sampler: boltzmann }
reward: { terms: { brief: { use: length, shape: linear } } }
advantage: { baseline: moving_average, scale: none }
replay: { use: window, capacity: 24, max_age: 4, share: 0.25 }
auxiliary: [{ use: learner, model: critic, objective: { use: value_clipped, clip: 0.5 }, each: token, capacity: 40, rows: 8, updates: 1 }]
update: { optimizer: { use: adamw, lr: 1.0e-3 } }
stages:
  - { name: warm-up, kind: sft, steps: 2, batch: 8 }
  - { name: practice, steps: 6 }
  - { name: harder, steps: 3, curriculum: { sampler: uniform }, replay: { capacity: 12 } }
evaluation: { every: 100, prompts: 2, pass_at: [1], samples: 1 }
checkpoint: { every: 1, keep: 40 }
seed: 1
`;
const last = 10;

interface Project {
  readonly place: string;
  readonly folder: string;
}
/** A project whose run lies in its store. */
function project(name: string): Project {
  const place = join(base, name);
  const folder = join(place, ".gradus", "runs", "one");
  mkdirSync(join(place, "data"), { recursive: true });
  mkdirSync(folder, { recursive: true });
  const file = join(place, "c.gradus.yaml");
  writeFileSync(file, config);
  const lines = Array.from({ length: 30 }, (_, i) =>
    JSON.stringify({ question: `${i} `, answer: String(i) }),
  );
  writeFileSync(join(place, "data", "lines.jsonl"), `${lines.join("\n")}\n`);
  const run = { id: "one", file, name: "one", set: [], createdAt: "2026-01-01T00:00:00Z" };
  writeFileSync(join(folder, "run.json"), JSON.stringify({ ...run, relative: relative(folder, file) }));
  return { place, folder };
}

const attempt = (folder: string, number: number): Promise<number> =>
  work({ folder, attempt: number, version: "0.0.0" });
const ending = (folder: string, number: number): string =>
  ofKind(readLog(folder, number), "end")
    .map(({ message }) => message)
    .join();

/** As a worker killed after the step leaves it. */
function killedAfter(step: number, folder: string): void {
  for (let later = step + 1; later <= last; later++)
    rmSync(join(folder, "checkpoints", String(later)), { recursive: true, force: true });
}

const base = mkdtempSync(join(tmpdir(), "gradus-resumed-"));
/** One run that is never interrupted, to resume copies of. */
const still = project("still");
before(async () => assert.equal(await attempt(still.folder, 0), 0, ending(still.folder, 0)));
after(() => rmSync(base, { recursive: true, force: true }));

/** A copy that was killed after a step, in a folder of another name. */
function copyOf({ place }: Project, name: string, step: number): Project {
  const copy = join(base, name);
  cpSync(place, copy, { recursive: true });
  const folder = join(copy, ".gradus", "runs", "one");
  killedAfter(step, folder);
  return { place: copy, folder };
}

type State = Record<string, unknown> & {
  loop: unknown;
  identities: Record<string, { about: Record<string, unknown>; stages: string[] }>;
  parts: Record<string, unknown>;
  arrays: { part: string }[];
};
const editState = (folder: string, step: number, edit: (state: State) => State): void => {
  const file = join(folder, "checkpoints", String(step), "state.json");
  const state: State = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify(edit(state)));
  rmSync(join(folder, "checkpoints", String(step), sumsFile));
};
/** What a checkpoint remembers, in its order; names hold hashes of folders. */
function remembered(folder: string, step: number): unknown {
  const state: State = JSON.parse(
    readFileSync(join(folder, "checkpoints", String(step), "state.json"), "utf8"),
  );
  return Object.entries(state.parts).map(([name, part]) => [name.split("/")[0], part]);
}
/** Every part under another hash, as another version or place would compute it. */
const rehashed = (state: State): State => {
  const renamed = (name: string): string => (/\/[0-9a-f]{12}$/.test(name) ? `${name.slice(0, -3)}xyz` : name);
  const keys = <Value>(of: Record<string, Value>): Record<string, Value> =>
    Object.fromEntries(Object.entries(of).map(([name, value]) => [renamed(name), value]));
  return {
    ...state,
    parts: keys(state.parts),
    identities: keys(state.identities),
    arrays: state.arrays.map((entry) => ({ ...entry, part: renamed(entry.part) })),
  };
};
/** Keys in the opposite order, at every depth. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, reversed(part)]),
  );
}

test("a run whose folder was moved or copied goes on with what it knows, number by number", async () => {
  const numbers = essence(readLog(still.folder, 0), 6);
  // Copied, the original still there; what it names is the copy's own.
  const copied = copyOf(still, "copied", 5);
  renameSync(join(still.place, "data"), join(still.place, "away"));
  assert.equal(await attempt(copied.folder, 1), 0, ending(copied.folder, 1));
  assert.deepEqual(essence(readLog(copied.folder, 1), 6), numbers);
  renameSync(join(still.place, "away"), join(still.place, "data"));
  const [start] = ofKind(readLog(copied.folder, 1), "start");
  assert.equal(start!.file, withDrive(join(copied.place, "c.gradus.yaml")));
  // Moved, of a version that did not note where the config is, relative to the store.
  const earlier = copyOf(copied, "before", 5);
  rmSync(join(earlier.folder, "log", "1"), { recursive: true });
  const file = join(earlier.folder, "run.json");
  const { relative: _, ...run }: Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...run, file: join(earlier.place, "c.gradus.yaml") }));
  const moved = { place: join(base, "moved"), folder: join(base, "moved", ".gradus", "runs", "one") };
  renameSync(earlier.place, moved.place);
  assert.equal(await attempt(moved.folder, 1), 0, ending(moved.folder, 1));
  assert.deepEqual(essence(readLog(moved.folder, 1), 6), numbers);
});

test("state is known by what was chosen: not by the order of keys, nor by defaults that a version adds", async () => {
  const numbers = essence(readLog(still.folder, 0), 9);
  const other = copyOf(still, "other", 8);
  editState(other.folder, 8, (state) => {
    const identities = Object.fromEntries(
      Object.entries(state.identities).map(([name, identity]) => {
        const { about } = identity;
        // A default that the version which wrote the checkpoint did not have.
        const { advantage } = about;
        if (typeof advantage === "object" && advantage !== null)
          delete (advantage as Record<string, unknown>)["clip"];
        return [name, { ...identity, about: reversed(about) as Record<string, unknown> }];
      }),
    );
    return rehashed({ ...state, identities });
  });
  assert.equal(await attempt(other.folder, 1), 0, ending(other.folder, 1));
  assert.deepEqual(essence(readLog(other.folder, 1), 9), numbers);
  assert.deepEqual(remembered(other.folder, last), remembered(still.folder, last));
});

test("state that nothing takes up any more is an error that names it, its checkpoint, what changed and what to do", async () => {
  const changed = async (name: string, step: number, from: string, to: string): Promise<string> => {
    const { folder } = copyOf(still, name, step);
    const kept = join(folder, "authored.gradus.yaml");
    const text = readFileSync(kept, "utf8");
    assert.ok(text.includes(from));
    writeFileSync(kept, text.replace(from, to));
    const code = await attempt(folder, 1);
    return code === 0 ? "" : ending(folder, 1);
  };
  const method = await changed("method", 5, "sampler: boltzmann", "sampler: greedy");
  assert.match(method, /checkpoints[\\/]5 holds state that nothing in the config uses/);
  assert.match(method, /the curriculum of stages warm-up, practice/);
  assert.match(method, /curriculum\.sampler\.use was "boltzmann" and is "greedy"/);
  assert.match(method, /authored\.gradus\.yaml/);
  assert.match(method, /model\.base: .*checkpoints[\\/]5/);
  assert.match(
    await changed("replay", 5, "capacity: 24", "capacity: 20"),
    /the replay memory of stages warm-up, practice \(replay\.source\.capacity was 24 and is 20\)/,
  );
  assert.match(
    await changed("learner", 5, "model: critic", "when: { every: 2 }, model: critic"),
    /the auxiliary losses of stages warm-up, practice, harder \(auxiliary\.0\.when was "always" and is/,
  );
  assert.match(
    await changed(
      "model",
      5,
      config.split("\n").find((line) => line.startsWith("auxiliary:"))!,
      "",
    ),
    /the auxiliary losses/,
  );
  const { folder } = copyOf(still, "untrained", 5);
  const models = join(folder, "checkpoints", "5", "models");
  cpSync(join(models, "critic"), join(models, "judge"), { recursive: true });
  assert.equal(await attempt(folder, 1), 1);
  assert.match(ending(folder, 1), /holds the trained model judge, which the config no longer trains/);
  // Stages that are over ask for nothing; weights and rates are read again.
  assert.equal(await changed("over", 9, "capacity: 24", "capacity: 20"), "");
  assert.equal(await changed("rate", 5, "lr: 1.0e-3", "lr: 2.0e-3"), "");
});

test("a run that resumes where a stage begins marks the stage again", async () => {
  const { folder } = copyOf(still, "mark", 7);
  assert.equal(await attempt(folder, 1), 0, ending(folder, 1));
  const marks = ofKind(readLog(folder, 1), "stage").map(({ name, step }) => [name, step]);
  assert.deepEqual(marks, [["harder", 8]]);
  // Within a stage there is nothing to say again; nor does a checkpoint of earlier versions lose the mark.
  const within = copyOf(still, "within", 8);
  assert.equal(await attempt(within.folder, 1), 0, ending(within.folder, 1));
  assert.deepEqual(ofKind(readLog(within.folder, 1), "stage"), []);
  const old = copyOf(still, "old", 7);
  editState(old.folder, 7, ({ loop, ...state }) => ({
    ...state,
    loop: { ...(loop as object), marked: undefined },
  }));
  assert.equal(await attempt(old.folder, 1), 0, ending(old.folder, 1));
  assert.deepEqual(
    ofKind(readLog(old.folder, 1), "stage").map(({ name }) => name),
    ["harder"],
  );
});

const fixture = resolve("test/fixtures/earlierCheckpoint");

test("a checkpoint of the earlier format resumes with its state, also where its folder was moved", async () => {
  const run = async (name: string, edit: (folder: string) => void): Promise<readonly [number, string]> => {
    const folder = join(base, name);
    cpSync(fixture, folder, { recursive: true });
    edit(folder);
    return [await attempt(folder, 1), folder];
  };
  const [code, exact] = await run("exact", () => undefined);
  assert.equal(code, 0, ending(exact, 1));
  const [first] = ofKind(readLog(exact, 1), "metrics");
  assert.equal(first!.step, 5);
  assert.equal(first!.values["replay/size"], 24, "the memory is as full as it was");
  assert.ok(existsSync(join(exact, "checkpoints", "7")));
  const moved = await run("moved", (folder) => {
    const file = join(folder, "run.json");
    const old: Record<string, unknown> = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...old, file: join(base, "elsewhere", "earlier.gradus.yaml") }));
  });
  assert.equal(moved[0], 0, ending(moved[1], 1));
  assert.deepEqual(essence(readLog(moved[1], 1), 5), essence(readLog(exact, 1), 5));
  const [failed, changed] = await run("changed", (folder) => {
    const file = join(folder, "authored.gradus.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("boltzmann", "greedy"));
  });
  assert.equal(failed, 1);
  assert.match(
    ending(changed, 1),
    /the curriculum \(curriculum\.sampler\.use was "boltzmann" and is "greedy"\)/,
  );
});
