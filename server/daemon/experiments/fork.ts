/** A run that begins with a checkpoint of another, with an edited config. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { ResponseError } from "vscode-jsonrpc/node";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import {
  errorCodes,
  type ParamsOf,
  type RunDetail,
  type runsFork,
} from "../../../shared/protocol/protocol.ts";
import { writerNames } from "../../../shared/run/origin.ts";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { loadConfig, type LoadedConfig } from "../../rules/load.ts";
import { checkFork, checkpointBefore } from "../../run/checkpoint/fork.ts";
import { keptExam, resolvedIn, withExam } from "../../run/loop/keptExam.ts";
import { assignment, readSettings } from "../../run/loop/settings.ts";
import type { LoopState } from "../../run/loop/loop.ts";
import { resolvedPath } from "../../run/loop/files.ts";
import { authoredPath, readRunFile } from "../../store/files.ts";

export interface PreparedFork {
  readonly name: string;
  readonly file: string;
  readonly set: readonly string[];
  readonly steps?: number;
  readonly seed?: number;
  /** The config's text, where the worker is not to read the file. */
  readonly text: string | undefined;
  /** Last step of the checkpoint. */
  readonly step: number;
  /** Where it begins in its stages, where that is not as the checkpoint says. */
  readonly loop?: LoopState;
}

/** @throws UserError where it has no such checkpoint, or the config cannot go on from it */
export function prepareFork(parent: RunDetail, wish: ParamsOf<typeof runsFork>): PreparedFork {
  if (parent.origin !== undefined)
    throw new UserError(
      `Run ${parent.id} was imported from ${writerNames[parent.origin.trainer]}: it has no checkpoint to fork from.`,
      { file: parent.origin.folder, code: "refused", action: "Start a run of its config: gradus run." },
    );
  const step = checkpointBefore(parent.id, parent.folder, wish.step);
  const before = resolvedAt(parent);
  const asked =
    wish.file === undefined ? asItWas(parent, wish, step, before) : asItIs(wish.file, wish, before);
  const config = configOf(asked);
  const loop = checkFork({
    run: parent.id,
    folder: parent.folder,
    step,
    config,
    before: withExam(before),
    last: parent.stages.at(-1),
    fresh: wish.fresh,
  });
  const { loaded: _, ...prepared } = asked;
  return { ...prepared, name: config.name, step, ...(loop === undefined ? {} : { loop }) };
}

interface Asked extends Omit<PreparedFork, "name" | "step" | "loop"> {
  readonly loaded: LoadedConfig;
}
type Overrides = Pick<ParamsOf<typeof runsFork>, "set" | "steps" | "seed">;

const numbers = ({ steps, seed }: Partial<Overrides>): { steps?: number; seed?: number } => ({
  ...(steps === undefined ? {} : { steps }),
  ...(seed === undefined ? {} : { seed }),
});

/** The run's own config, with what was set at its start, and while it was live up to the checkpoint. */
function asItWas(parent: RunDetail, wish: Overrides, step: number, before: JsonObject): Asked {
  const run = readRunFile(parent.folder);
  const settings = readSettings(parent.folder).filter((setting) => setting.step <= step);
  const file = run?.file ?? parent.file;
  const set = [...keptExam(before), ...(run?.set ?? []), ...settings.map(assignment), ...wish.set];
  const own = numbers({ steps: wish.steps ?? run?.steps, seed: wish.seed ?? run?.seed });
  const text = authoredAt(parent);
  const loaded = loadConfig(file, { text, set, folder: dirname(file), ...own });
  return { file, set, ...own, text, loaded };
}

/** The run's folder has them before the store has read its log. */
function authoredAt({ folder, authored }: RunDetail): string {
  const path = authoredPath(folder);
  return existsSync(path) ? readFileSync(path, "utf8") : authored;
}
const resolvedAt = ({ folder, config }: RunDetail): JsonObject => resolvedIn(resolvedPath(folder)) ?? config;

function asItIs(file: string, { set: wished, ...wish }: Overrides, before: JsonObject): Asked {
  const own = numbers(wish);
  const plain = loadFile(file, { set: wished, ...own });
  // Nobody wrote another seed: the exam of the parent goes on.
  const isWritten = plain.origins["evaluation.seed"]?.file !== "default";
  const kept = isWritten ? [] : keptExam(before);
  const set = [...kept, ...wished];
  const { converted, ...loaded } = kept.length === 0 ? plain : loadFile(file, { set, ...own });
  return { file, set, ...own, text: converted?.config, loaded };
}

function configOf({ loaded: { config, diagnostics }, file }: Asked): RunConfig {
  if (config !== undefined) return config;
  const first = diagnostics.find(({ severity }) => severity === "error");
  throw new ResponseError(
    errorCodes.invalidConfig,
    `The config has errors: ${first?.message ?? "it cannot be read"}`,
    {
      action: `Fix what \`gradus validate ${copiedWord(file)}\` lists, then fork again.`,
      file: first?.file ?? file,
      line: first?.range.start.line,
      character: first?.range.start.character,
      diagnostics,
    },
  );
}
