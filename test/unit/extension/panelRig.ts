/** A panel's feed with a daemon that answers from tables, a clock that is turned by hand, and what it sent. */
import type { Asker } from "../../../extension/features/connection/asker.ts";
import { PanelFeed } from "../../../extension/features/panel/feed.ts";
import type { Change, RunDetail, RunSummary } from "../../../shared/protocol/protocol.ts";
import type { ToPanel } from "../../../shared/editor/runPanel.ts";
import { evaluationsUpTo, liveStep, seriesUpTo, summaryAt, warmUp } from "../../webview/fakeRun.ts";

export const run = summaryAt(0).id;
export const detailAt = (step: number): RunDetail => ({
  ...summaryAt(step),
  folder: "/r",
  authored: "secret",
  config: { rollout: { group: 8 }, stages: [{ name: "warm-up", kind: "sft", steps: 300 }] },
  git: null,
  checkpoints: [],
  attempts: [],
  stages: [{ step: 0, name: "warm-up", kind: "sft" }],
  backendReason: null,
});

interface SeriesAsked {
  readonly buckets?: number;
  readonly stacks: readonly { readonly metrics: readonly string[]; readonly absent: string }[];
}

export function rig(
  step = warmUp + 5,
  more: { readonly answers?: Readonly<Record<string, unknown>>; readonly shown?: () => RunSummary } = {},
) {
  const sent: ToPanel[] = [];
  const asked: string[] = [];
  const wheres: (string | undefined)[] = [];
  const parts: unknown[] = [];
  const series: SeriesAsked[] = [];
  const failures: unknown[] = [];
  const timers: (() => void)[] = [];
  let at = step;
  /** Answers that are held back, by method. */
  const held = new Map<string, Promise<void>>();
  /** From now on answers to a method wait, as they are at the time of the question. @returns how to let them go */
  const hold = (method: string): (() => void) => {
    let release = (): void => undefined;
    held.set(method, new Promise((done) => (release = done)));
    return () => {
      held.delete(method);
      release();
    };
  };
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) await new Promise((turn) => setImmediate(turn));
  };
  const answers: Readonly<Record<string, (parameters: { metrics?: string[] }) => unknown>> = {
    "gradus/runs/show": () => detailAt(at),
    "gradus/metrics/names": () => ({
      names: [...seriesUpTo(at).map(({ metric }) => metric), "memory/tensors"],
    }),
    "gradus/metrics/series": ({ metrics = [] }) => ({
      series: seriesUpTo(at).filter(({ metric }) => metrics.includes(metric)),
      step: at,
    }),
    "gradus/groups": () => ({
      groups: [
        {
          step: at,
          group: "g",
          task: "task 1",
          arm: "a/1",
          admitted: false,
          reason: "all alike",
          successes: 2,
          size: 2,
        },
      ],
    }),
    "gradus/rollouts": () => ({
      rollouts: [
        { step: at, group: "g", index: 1, reward: "NaN", advantage: null, errors: { style: "timeout" } },
        {
          step: at,
          group: "g",
          index: 0,
          reward: 1,
          advantage: 0,
          prompt: "p",
          response: "r",
          rewards: { a: 1, b: { level: "turn", values: [1, null, 2] } },
        },
      ],
      total: 3,
      next: null,
    }),
    "gradus/curriculum": () => ({ by: "arm", lanes: [] }),
    "gradus/rollouts/why": () => Promise.reject(new Error("no such rollout")),
    "gradus/evaluations": () => ({ evaluations: evaluationsUpTo(at) }),
    "gradus/runs/verdict": () => ({ verdict: null }),
    "gradus/events": () => ({ events: [{ severity: "error" }, { severity: "info" }] }),
    // A daemon of an earlier version.
    "gradus/rewards/errors": () => Promise.reject(new Error("unhandled method")),
    ...Object.fromEntries(
      Object.entries(more.answers ?? {}).map(([method, answer]) => [
        method,
        typeof answer === "function" ? (answer as () => unknown) : () => answer,
      ]),
    ),
  };
  const source: Asker = {
    ask: (request, parameters) => {
      asked.push(request.method);
      if (request.method === "gradus/metrics/series") series.push(parameters as SeriesAsked);
      if (request.method === "gradus/rollouts") {
        const { where, from, to } = parameters as { where?: string; from?: number; to?: number };
        wheres.push(where);
        parts.push([from, to]);
      }
      const answer = answers[request.method]!(parameters as { metrics?: string[] });
      return (held.get(request.method) ?? Promise.resolve()).then(() => answer as never);
    },
  };
  const feed = new PanelFeed({
    run,
    source: () => Promise.resolve(source),
    send: (message) => sent.push(message),
    failed: (error) => failures.push(error),
    after: (_, act) => void timers.push(act),
    ...(more.shown === undefined ? {} : { shown: more.shown }),
  });
  const tick = async (): Promise<void> => {
    timers.shift()?.();
    await settled();
  };
  const stepChange = (to: number, kind: Change["kind"] = "step"): Change => {
    at = to;
    return { cursor: to, run, kind, step: to, summary: summaryAt(to), metrics: liveStep(to).metrics };
  };
  return { sent, asked, wheres, parts, series, failures, timers, feed, tick, settled, hold, stepChange };
}
