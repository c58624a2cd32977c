/** Of a training that has failed the first cause, by the end of its log. */
import type { Cause, FailedTrainer } from "./cause.ts";
import { causes } from "./causes.ts";
import { eventsOf, type Frame, type LogEvent } from "./traceback.ts";

export interface RootCause {
  /** What has happened, as a sentence. */
  readonly cause: string;
  /** `file:line` of the code that a person may look at; null: the log has no frame of it. */
  readonly where: string | null;
  /** Whose log it is, as far as it shows. */
  readonly trainer: FailedTrainer | null;
  /** The key of the trainer's config that changes it. */
  readonly key: string | null;
  /** The key of Gradus's config that does. */
  readonly gradus: string | null;
  readonly action: string;
  /** Line of the log that was given, from 1. */
  readonly line: number;
}

/** They tell that something else has failed. */
const followers =
  /^(?:[\w.]*\.)?(?:RayTaskError|RayActorError|ActorDiedError|ActorUnavailableError|WorkerCrashedError|ChildFailedError|EngineDeadError|CalledProcessError|DistBackendError|BrokenPipeError|ConnectionResetError|EOFError|SystemExit|KeyboardInterrupt)\b|Engine core initialization failed/;

/** A trainer that goes on has not failed. */
const progress =
  /\bstep:\d+ - |^\{'(?:loss|reward|train_runtime)'|Training Progress: +\d+%|Global step \d+|"train_runtime"/;

/** @param log the end of a trainer's log, some hundred KB; undefined: it shows no failure */
export function rootCause(log: string): RootCause | undefined {
  const events = eventsOf(log);
  const trainer = trainerOf(log);
  const wentOn = Math.max(0, ...events.filter(({ text }) => progress.test(text)).map(({ line }) => line));
  const after = events.filter(({ line }) => line > wentOn);
  const known = after.flatMap((event) => {
    const found = causeOf(event);
    return found === undefined ? [] : [{ event, ...found }];
  });
  const chain = chainOf(after.findLast(({ thrown, text }) => thrown && !followers.test(text)));
  const ended = chain.flatMap(({ text }) => {
    const first = known.find(({ event }) => firstLine(event.text) === firstLine(text));
    return first === undefined ? [] : [first];
  });
  const certain = (one: Known): boolean => one.cause.late === undefined && one.cause.caught === undefined;
  const chosen =
    ended.find(certain) ?? known.find(certain) ?? ended.find(({ cause }) => cause.caught) ?? undefined;
  if (chosen !== undefined) return said(chosen, trainer);
  const late = known.find(({ cause }) => cause.late);
  const [root] = chain;
  if (root !== undefined && !ended.some(({ cause }) => cause.late)) return unknown(root, after, trainer);
  return late === undefined ? undefined : said(late, trainer);
}

interface Known {
  readonly event: LogEvent;
  readonly cause: Cause;
  readonly found: RegExpExecArray;
}

function causeOf(event: LogEvent): Omit<Known, "event"> | undefined {
  for (const cause of causes) {
    const found = cause.pattern.exec(event.text);
    if (found === null) continue;
    const { frame } = cause;
    if (frame === undefined || event.frames.some(({ file, name }) => frame.test(`${file} ${name}`)))
      return { cause, found };
  }
  return undefined;
}

/** From the first cause on. */
function chainOf(last: LogEvent | undefined): LogEvent[] {
  const chain: LogEvent[] = [];
  for (let event = last; event !== undefined; event = event.from) chain.unshift(event);
  return chain;
}

function said({ event, cause, found }: Known, trainer: FailedTrainer | null): RootCause {
  const own = cause.named?.(found) ?? (trainer === null ? undefined : cause.keys[trainer]);
  return {
    cause: `${cause.says(found)}.`,
    where: whereOf(event.frames),
    trainer,
    key: own ?? null,
    gradus: cause.keys.gradus ?? null,
    action: cause.action(own ?? cause.words, found),
    line: event.line,
  };
}

/** An exception that the table does not have: where it was thrown first is what there is to say. */
function unknown(root: LogEvent, events: readonly LogEvent[], trainer: FailedTrainer | null): RootCause {
  const first =
    events.find(
      ({ thrown, text, frames }) => thrown && frames.length > 0 && firstLine(text) === firstLine(root.text),
    ) ?? root;
  const where = whereOf(first.frames);
  return {
    cause: firstLine(first.text),
    where,
    trainer,
    key: null,
    gradus: null,
    action: where === null ? "Look at the log above this line." : `Look at ${where}, where it was thrown.`,
    line: first.line,
  };
}

const firstLine = (text: string): string => text.split("\n")[0] ?? "";

/** Code of libraries and of Python itself, but for the trainers. */
const library =
  /\/(?:site|dist)-packages\/(?!(?:verl|trl|openrlhf)\/)|\/lib\/python[\d.]+\/(?!site-packages|dist-packages)|^<|\/(?:vllm|sglang|ray|torch)\/(?:[\w.]+\/)*\w+\.py$/;

function whereOf(frames: readonly Frame[]): string | null {
  const frame = frames.findLast(({ file }) => !library.test(file)) ?? frames.at(-1);
  return frame === undefined ? null : `${frame.file}:${frame.line}`;
}

const signs: Readonly<Record<FailedTrainer, RegExp>> = {
  verl: /\bverl[/.]|\bactor_rollout_ref\./,
  trl: /\btrl\/(?:trainer|scripts|cli)|\b(?:GRPO|DPO|SFT|RLOO|PPO)(?:Trainer|Config)\b/,
  openrlhf: /\bopenrlhf[/.]/i,
};

function trainerOf(log: string): FailedTrainer | null {
  const found = (["verl", "openrlhf", "trl"] as const).find((name) => signs[name].test(log));
  return found ?? null;
}
