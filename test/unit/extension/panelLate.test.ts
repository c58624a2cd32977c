/** A panel whose answers come late: what changed while they were under way is asked for again, and the last word is the last. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change } from "../../../shared/protocol/protocol.ts";
import type { ToPanel } from "../../../shared/editor/runPanel.ts";
import { evaluationsUpTo, summaryAt, warmUp } from "../../webview/fakeRun.ts";
import { detailAt, rig } from "./panelRig.ts";

const at = warmUp + 5;

/** What a panel was told last of what each question answers. */
type Told = Extract<ToPanel, { readonly type: "live" | "show" }>;
const told = ({ sent, failures }: Pick<ReturnType<typeof rig>, "sent" | "failures">): Told => {
  assert.deepEqual(failures, []);
  const last = sent.findLast(
    (message): message is Told => message.type === "live" || message.type === "show",
  );
  assert.ok(last);
  return last;
};

/** Each question that a change leads to, the change, and where its answer shows; answers count up with the world. */
const cases: readonly {
  readonly method: string;
  readonly kind: Change["kind"];
  readonly shows: (message: Told) => unknown;
}[] = [
  { method: "gradus/evaluations", kind: "evaluation", shows: ({ evaluations }) => evaluations.length },
  { method: "gradus/events", kind: "event", shows: ({ errors }) => errors },
  { method: "gradus/runs/show", kind: "status", shows: ({ run }) => run.checkpoints.length },
  {
    method: "gradus/runs/verdict",
    kind: "evaluation",
    shows: ({ verdict }) => (verdict as { headline?: string } | null | undefined)?.headline,
  },
];

const world = () => {
  const state = { count: 1 };
  const list = <Item>(item: Item): Item[] => Array.from({ length: state.count }, () => item);
  const answers = {
    "gradus/evaluations": () => ({
      evaluations: list(evaluationsUpTo(at)[0]),
    }),
    "gradus/events": () => ({ events: list({ severity: "error", name: "log-damaged" }) }),
    "gradus/runs/show": () => ({ ...detailAt(at), checkpoints: list({ step: at, path: "c" }) }),
    "gradus/runs/verdict": () => ({ verdict: { headline: `word ${state.count}` } }),
  };
  return { state, answers };
};

for (const { method, kind, shows } of cases)
  test(`what changes while ${method} is under way is asked for again`, async () => {
    const { state, answers } = world();
    const panel = rig(at, { answers });
    const { feed, tick, settled, timers, hold, stepChange } = panel;
    await feed.ready();
    const change = { ...stepChange(at), kind };
    state.count = 2;
    const release = hold(method);
    feed.take([change]);
    await tick();
    state.count = 3;
    feed.take([change]);
    release();
    await settled();
    for (let turns = 0; timers.length > 0 && turns < 20; turns++) await tick();
    assert.equal(String(shows(told(panel))).replace("word ", ""), "3");
    assert.equal(timers.length, 0, "nothing is left to ask");
  });

for (const method of [...cases.map((one) => one.method), "gradus/metrics/names", "gradus/metrics/series"])
  test(`a run that ends while a panel loads and waits for ${method} is shown as ended`, async () => {
    const { state, answers } = world();
    const panel = rig(at, { answers });
    const { feed, tick, settled, timers, hold, stepChange } = panel;
    const release = hold(method);
    const loading = feed.ready();
    await settled();
    state.count = 2;
    const ended = summaryAt(at, { status: "finished" });
    feed.take([
      { ...stepChange(at), kind: "evaluation", summary: ended },
      { ...stepChange(at), kind: "status", summary: ended },
    ]);
    release();
    await loading;
    for (let turns = 0; timers.length > 0 && turns < 20; turns++) await tick();
    const last = told(panel);
    assert.equal(last.run.summary.status, "finished");
    for (const { shows } of cases.filter(({ kind }) => kind !== "event"))
      assert.equal(String(shows(last)).replace("word ", ""), "2");
  });

test("an older answer that comes after everything was asked again is dropped", async () => {
  const { state, answers } = world();
  const panel = rig(at, { answers });
  const { feed, tick, settled, timers, hold, stepChange } = panel;
  await feed.ready();
  const release = hold("gradus/evaluations");
  feed.take([{ ...stepChange(at), kind: "evaluation" }]);
  await tick();
  state.count = 5;
  const again = feed.restart();
  release();
  await again;
  await settled();
  for (let turns = 0; timers.length > 0 && turns < 20; turns++) await tick();
  assert.equal(told(panel).evaluations.length, 5);
});

test("a question that fails is asked again with what changed meanwhile", async () => {
  const { state, answers } = world();
  let fails = false;
  const panel = rig(at, {
    answers: {
      ...answers,
      "gradus/events": () => (fails ? Promise.reject(new Error("gone")) : answers["gradus/events"]()),
    },
  });
  const { feed, failures, tick, timers, stepChange } = panel;
  await feed.ready();
  fails = true;
  feed.take([{ ...stepChange(at), kind: "event" }]);
  await tick();
  assert.equal(failures.splice(0).length, 1);
  fails = false;
  state.count = 4;
  for (let turns = 0; timers.length > 0 && turns < 20; turns++) await tick();
  assert.equal(told(panel).errors, 4);
});
