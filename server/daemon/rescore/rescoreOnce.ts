/** `gradus/rescore`, `gradus/rescore/sweep` and `gradus/reward/coverage`: one question, one answer, for whoever has the config's text. */
import { limits, readText } from "../../lib/inputFile.ts";
import { resolve } from "node:path";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type {
  ParamsOf,
  ResultOf,
  rescore,
  rescoreSweep,
  rewardCoverage,
} from "../../../shared/protocol/protocol.ts";
import type { Rescored } from "../../../shared/rollouts/rescore.ts";
import type { RemoteStore } from "../../store/remote.ts";
import { pathsOf } from "../fileRuns.ts";
import { Overtaken, type Rescorer } from "./rescorer.ts";
import type { RescoreRequest } from "./rescoreWire.ts";
import { pathOfAddress } from "../../../shared/lib/fileAddress.ts";

type Edited = Pick<ParamsOf<typeof rescore>, "uri" | "text" | "unsaved" | "trusted">;
type Remote = Pick<RemoteStore, "call">;

/** Answers null where the config has no run with rollouts, or a later question of the same kind came. */
export async function rescoreOnce(
  remote: Remote,
  rescorer: Rescorer,
  { scope, ...edited }: ParamsOf<typeof rescore>,
): Promise<ResultOf<typeof rescore>> {
  const request = await requestOf(remote, edited, { kind: scope });
  if (request === undefined) return { rescored: null };
  let rescored: Rescored | null = null;
  const key = `once ${scope} ${request.file} ${Object.keys(request.unsaved).join()}`;
  const answer = await unlessOvertaken(
    rescorer.ask(key, request, (part) => {
      rescored = part;
    }),
  );
  return { rescored: answer === undefined ? null : rescored };
}

export async function sweepOnce(
  remote: Remote,
  rescorer: Rescorer,
  { term, from, to, ...edited }: ParamsOf<typeof rescoreSweep>,
): Promise<ResultOf<typeof rescoreSweep>> {
  const request = await requestOf(remote, edited, { kind: "sweep", term, from, to });
  if (request === undefined) return { sweep: null };
  const asked = rescorer.ask(`once sweep ${request.file} ${term}`, request, () => undefined);
  return { sweep: (await unlessOvertaken(asked))?.sweep ?? null };
}

/** @throws UserError of an untrusted workspace: its functions are not run */
export async function coverageOnce(
  remote: Remote,
  rescorer: Rescorer,
  edited: ParamsOf<typeof rewardCoverage>,
): Promise<ResultOf<typeof rewardCoverage>> {
  if (!edited.trusted)
    throw new UserError("Coverage runs the reward's functions, which only a trusted workspace may do.", {
      code: "untrusted",
      action: "Trust the workspace.",
    });
  const request = await requestOf(remote, edited, { kind: "coverage" });
  if (request === undefined) return { coverage: null };
  const asked = rescorer.ask(`once coverage ${request.file}`, request, () => undefined);
  return { coverage: (await unlessOvertaken(asked))?.coverage ?? null };
}

/** undefined: a later question of the same kind came. */
async function unlessOvertaken<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Overtaken) return undefined;
    throw error;
  }
}

async function requestOf(
  remote: Remote,
  { unsaved = {}, trusted, ...edited }: Edited,
  want: RescoreRequest["want"],
): Promise<RescoreRequest | undefined> {
  const { file, text } = editedFile(edited);
  const { record } = await remote.call("fileRuns", pathsOf(file));
  if (record === null) return undefined;
  const { summary, folder, authored, bundles } = record;
  const steps = await remote.call("rolloutSteps", summary.id);
  if (steps.length === 0) return undefined;
  const run = { id: summary.id, name: summary.name, folder, authored, bundles };
  return { run, steps, file, text, trusted, unsaved, want };
}

/** A config's path, and its text as it is in an editor, else on disk. */
export function editedFile({ uri, text }: Pick<Edited, "uri" | "text">): {
  readonly file: string;
  readonly text: string;
} {
  const file = resolve(pathOfAddress(uri));
  return { file, text: text ?? textOf(file) };
}

function textOf(file: string): string {
  try {
    return readText(file, limits.config);
  } catch (error) {
    throw new UserError(`The config cannot be read: ${messageOf(error)}.`, {
      file,
      code: "missing-file",
      cause: error,
      action: "Check the path.",
    });
  }
}
