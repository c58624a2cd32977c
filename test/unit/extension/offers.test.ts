/** Each command that the manifest offers has a place where it is shown, and what is shown there can be done. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { steered, type Steering } from "../../../extension/features/runs/rows.ts";
import { rowOf } from "../../../extension/features/runs/treeModel.ts";
import { language, schemes, views } from "../../../shared/editor/contributions.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive, liveStatuses, type RunStatus } from "../../../shared/protocol/runStatus.ts";
import { isWatched, type RunOrigin } from "../../../shared/run/origin.ts";
import { holds, nameOf, offersOf, type Context, type Contributes, type Offer } from "../../support/offers.ts";
import { summaryAt } from "../../webview/fakeRun.ts";

const json = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));
const { contributes } = json("package.json") as { readonly contributes: Contributes };
const offers = offersOf(contributes, json("package.nls.json") as Record<string, string>);

/** A window with a trusted folder. */
const window: Context = { isWorkspaceTrusted: true, workspaceFolderCount: 1, "gradus.daemonState": "ready" };
const trainers: Context = { ...window, "gradus.daemonState": "none", "gradus.trainer": "verl" };
const configs: Context = { ...window, "gradus.hasConfigs": true };
const runs: Context = { ...configs, "gradus.hasRuns": true };

const origin: RunOrigin = {
  ...{
    trainer: "verl",
    version: null,
    folder: "/out",
    rollouts: 8,
    steps: 2,
    groups: "uid",
    advantages: null,
  },
  copied: false,
};
const origins: readonly (RunOrigin | undefined)[] = [
  undefined,
  origin,
  {
    ...origin,
    trainer: "hook",
    site: { site: "box", folder: "/far", engine: "trl" } as RunOrigin["site"] & object,
  },
];
const statuses: readonly RunStatus[] = [
  ...liveStatuses,
  ...(["finished", "stopped", "failed", "interrupted", "reading"] as const),
];
const marks: readonly Partial<RunSummary>[] = [{}, { pinned: true }, { archived: true }];
const allRuns: readonly RunSummary[] = statuses.flatMap((status) =>
  origins.flatMap((from) =>
    marks.map((mark) => summaryAt(5, { status, ...mark, ...(from === undefined ? {} : { origin: from }) })),
  ),
);
const rowContext = (viewItem: string): Context => ({ ...runs, view: views.runs, viewItem });
const contextOf = (run: RunSummary): Context => rowContext(rowOf({ kind: "run", run }, 0).context);
const partContexts: readonly Context[] = [
  rowOf({ kind: "step", run: "a", step: 1 }, 0),
  rowOf({ kind: "checkpoint", run: "a", step: 1, path: "/c", bytes: 1 }, 0),
  rowOf(
    { kind: "family", run: "a", open: true, family: { key: "a", name: "a", runs: allRuns, all: allRuns } },
    0,
  ),
].map(({ context }) => rowContext(context));

const document = (scheme: string, resourceLangId: string, name = ""): Context => ({
  ...{ editorTextFocus: true, resourceScheme: scheme, resourceLangId, resourceFilename: name },
});
const config = document("file", language.id, "a.gradus.yaml");
const places: readonly Context[] = [
  ...[{ workspaceFolderCount: 0 }, { workspaceFolderCount: 1 }, window, trainers, configs, runs],
  ...["failed", "nodePath", "setUp", "disconnected", "starting"].map((state) => ({
    ...window,
    "gradus.daemonState": state,
  })),
  { ...runs, "gradus.runsFiltered": true },
]
  .flatMap((situation: Context) => [
    ...Object.values(views).map((view) => ({ ...situation, view })),
    situation,
    { ...situation, ...config },
    { ...situation, ...config, "gradus.forkPending": true },
    { ...situation, ...document("file", "typescript") },
    ...[schemes.rollouts, schemes.rollout, schemes.rolloutList].map((scheme) => ({
      ...situation,
      ...document(scheme, "gradus-rollouts"),
    })),
    { ...situation, explorerResourceIsFolder: true },
    { ...situation, resourceFilename: "slurm-1.out" },
  ])
  .concat(allRuns.map(contextOf), partContexts, [
    { ...configs, view: views.configs, viewItem: "config" },
    { ...trainers, view: views.runs, viewItem: "trainer.launch" },
  ]);

test("conditions read as the editor reads them", () => {
  const context: Context = { a: true, b: "x", n: 2, off: false };
  for (const when of [
    "",
    "a",
    "!off",
    "b == x",
    "b == 'x'",
    "b != y",
    "n > 1",
    "b =~ /^(x|y)$/",
    "off || a && !gone",
  ])
    assert.ok(holds(when, context), when);
  for (const when of ["off", "gone", "!a", "b =~ /y/", "n > 2", "a && off", "(a || off) && off", "false"])
    assert.ok(!holds(when, context), when);
  assert.throws(() => holds("a ? b", context), /cannot be read/);
});

test("each menu, key and link has a place where it is shown", () => {
  const hidden = (offer: Offer): boolean => offer.place === "palette" && offer.when.startsWith("false");
  const lost = offers.filter((offer) => !hidden(offer) && !places.some((place) => holds(offer.when, place)));
  assert.deepEqual(lost.map(nameOf), []);
});

/** What a row's command would be refused for; undefined: nothing. */
function refusal(command: string, run: RunSummary): string | undefined {
  const foreign = run.origin !== undefined && run.origin.site?.engine === undefined;
  const steering: Readonly<Record<string, Steering>> = {
    "gradus.run.stop": "stop",
    "gradus.run.stopNow": "stop",
    "gradus.run.pause": "pause",
  };
  const action = steering[command];
  if (action !== undefined) assert.equal(steered([run], action).length, 1);
  if (command === "gradus.run.delete" && isLive(run.status)) return "it is live";
  if (command === "gradus.run.fork" && run.origin !== undefined) return "it has no checkpoint of ours";
  if (command !== "gradus.run.resume") return undefined;
  if (foreign) return "its own trainer resumes it";
  return run.status === "finished" || (isLive(run.status) && run.status !== "paused")
    ? "it goes on"
    : undefined;
}

test("what a run's row offers can be done with this run", () => {
  const listed = offers.filter(({ place }) => place === "view/item/context");
  for (const run of allRuns)
    for (const { command } of listed.filter(({ when }) => holds(when, contextOf(run))))
      assert.equal(
        refusal(command, run),
        undefined,
        `${command} on a run that is ${run.status}, ${isWatched(run) ? "watched" : (run.origin?.trainer ?? "ours")}`,
      );
});

test("a side bar without a config starts none, and one without a run shows none", () => {
  const shown = (context: Context): readonly string[] =>
    offers
      .filter(({ place }) => ["view/title", "welcome"].includes(place))
      .filter(({ when }) => holds(when, { ...context, view: views.runs }))
      .map(({ command }) => command);
  assert.ok(shown(configs).includes("gradus.run.start"));
  assert.ok(!shown(trainers).includes("gradus.run.start"));
  for (const context of [trainers, configs])
    assert.deepEqual(
      shown(context).filter((command) =>
        /^gradus\.(run\.(open|sort|filter)|rescore|rollouts?)\b/.test(command),
      ),
      [],
    );
});
