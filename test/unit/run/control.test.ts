import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Commands } from "../../../server/run/loop/commands.ts";
import { openControl } from "../../../shared/run/control.ts";
import { Interrupted } from "../../../server/run/loop/session.ts";
import { Recorder, type Appended } from "../../../server/run/step/log/recorder.ts";

function setting(): {
  folder: string;
  write: (text: string) => void;
  records: Appended[];
  commits: number[];
  recorder: Recorder;
  remove: () => void;
} {
  const folder = mkdtempSync(join(tmpdir(), "gradus-control-"));
  const records: Appended[] = [];
  const commits: number[] = [];
  const recorder = new Recorder({
    append: (record) => records.push(record),
    commit: (step) => commits.push(step),
    sync: () => undefined,
  });
  return {
    folder,
    records,
    commits,
    recorder,
    write: (text) => appendFileSync(join(folder, "control.jsonl"), text),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
const never = new AbortController().signal;
const refuse = (): string => "not now";
const answers = (records: readonly Appended[]): [string, boolean][] =>
  records.flatMap((record) => (record.kind === "acknowledge" ? [[record.id, record.accepted]] : []));

test("lines are read once, and a line without its end waits for it", () => {
  const { folder, write, remove } = setting();
  const control = openControl(folder, false);
  assert.deepEqual(control.read().lines, []);
  write('{"id":"1","action":"stop"}\n{"id":"2","act');
  assert.deepEqual(
    control.read().lines.map(({ id }) => id),
    ["1"],
  );
  write('ion":"pause"}\n');
  assert.deepEqual(
    control.read().lines.map(({ id }) => id),
    ["2"],
  );
  assert.deepEqual(openControl(folder, true).read().lines, []);
  remove();
});

test("every line is acknowledged; one that says nothing known is refused with a warning", async () => {
  const { folder, write, records, recorder, remove } = setting();
  write(
    '{"id":"1","action":"checkpoint"}\nnot json\n{"id":"2","action":"dance"}\n{"id":"3","action":"continue"}\n{"id":"4","action":"set","path":"seed","value":3}\n',
  );
  let checkpoints = 0;
  const commands = new Commands(openControl(folder, false), recorder, never);
  assert.equal(await commands.obey(() => Promise.resolve(void (checkpoints += 1)), refuse), "go");
  assert.equal(checkpoints, 1);
  assert.deepEqual(
    new Map(answers(records)),
    new Map([
      ["1", true],
      ["2", false],
      ["3", false],
      ["4", false],
    ]),
  );
  assert.equal(
    records.filter((record) => record.kind === "event" && record.name === "control-unreadable").length,
    2,
  );
  remove();
});

test("a paused run answers and waits until it is asked to go on", async () => {
  const { folder, write, records, recorder, remove } = setting();
  write('{"id":"1","action":"pause"}\n');
  const commands = new Commands(openControl(folder, false), recorder, never);
  const done = commands.obey(() => Promise.resolve(), refuse);
  assert.deepEqual(answers(records), [["1", true]]);
  write('{"id":"2","action":"continue"}\n');
  assert.equal(await done, "go");
  assert.deepEqual(
    records.flatMap((record) => (record.kind === "event" ? [record.name] : [])),
    ["paused", "continued"],
  );
  remove();
});

const none = (): Promise<void> => Promise.resolve();
/** Asks as a generation does, until a line was seen. */
async function untilObeyed(commands: Commands): Promise<never> {
  for (;;) {
    await commands.between(none);
    await new Promise(setImmediate);
  }
}

test("a stop is seen between decode runs and obeyed at the boundary, in pause too", async () => {
  const { folder, write, recorder, remove } = setting();
  const commands = new Commands(openControl(folder, false), recorder, never);
  write('{"id":"1","action":"stop"}\n');
  await assert.rejects(untilObeyed(commands), Interrupted);
  assert.equal(await commands.obey(() => Promise.resolve(), refuse), "stop");
  write('{"id":"2","action":"pause"}\n{"id":"3","action":"stop"}\n');
  assert.equal(await commands.obey(() => Promise.resolve(), refuse), "stop");
  remove();
});
