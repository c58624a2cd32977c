/** What a run needs before its first step: every stage's methods, user rewards, environments and tools. */
import { checkLearners } from "../step/update/learners.ts";
import type { Stage } from "../step/context.ts";
import type { StartNote } from "../models/trainable.ts";
import type { LoadedCode } from "./keepSources.ts";
import { sandboxNotes } from "./sandboxNotes.ts";
import type { Session } from "./session.ts";
import type { StageComponents } from "./stageComponents.ts";

export interface PreparedRun {
  /** SHA-256 of each user reward's bundle, by term. */
  readonly bundles: Record<string, string>;
  readonly loaded: LoadedCode;
}

/** @throws UserError where something is missing */
export async function prepareRun(session: Session, components: StageComponents): Promise<PreparedRun> {
  const { stages, top } = session.config;
  const bodies = [top, ...stages.filter((stage) => stage.kind === "rl").map((stage) => stage.body)];
  reportNotes(session, await sandboxNotes(bodies));
  const made = stages.map((stage) => components.stage(stage));
  reportNotes(session, omittedNotes(made));
  for (const stage of stages)
    if (stage.kind === "rl") reportNotes(session, await components.prepare(stage.body, top));
  const scorers = bodies.map((body) => components.scorer(body));
  checkLearners(scorers, session.models);
  const distinct = [...new Set(scorers)];
  const bundles = await Promise.all(distinct.map((scorer) => scorer.prepare()));
  const hosts = new Set(bodies.map((body) => components.hosts(body)));
  await Promise.all([...hosts].map(async (one) => one?.prepare()));
  const rewards: LoadedCode["rewards"] = new Map();
  const environments: LoadedCode["environments"] = new Map();
  const tools: LoadedCode["tools"] = new Map();
  for (const { loaded } of distinct) for (const [term, code] of loaded) rewards.set(term, code);
  for (const one of hosts) {
    for (const [source, code] of one?.loaded.environments ?? []) environments.set(source, code);
    for (const [names, code] of one?.loaded.tools ?? []) tools.set(names, code);
  }
  return { bundles: Object.assign({}, ...bundles), loaded: { rewards, environments, tools } };
}

export function reportNotes({ recorder }: Session, notes: readonly StartNote[]): void {
  for (const { name, message, action } of notes) recorder.event("info", name, message, { action });
}

/** Lines of tasks' files that are never asked: each file once. */
function omittedNotes(stages: readonly Stage[]): StartNote[] {
  const omitted = stages.flatMap(({ curriculum }) =>
    curriculum.sources.flatMap(({ source }) => source.omitted ?? []),
  );
  return [...new Set(omitted)].map((message) => ({
    name: "rollouts-left-out",
    message: `${message}.`,
    action: "Name a file of tasks, or a log of rollouts that trained.",
  }));
}
