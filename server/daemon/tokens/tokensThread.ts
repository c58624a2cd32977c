/** The thread that reads what was recorded of each token: tokenizers are large, and stay loaded here. */
import { parentPort } from "node:worker_threads";
import type { RolloutRecordLog } from "../../../shared/log/records.ts";
import type { RolloutTokens } from "../../../shared/protocol/protocol.ts";
import { packed } from "../../../shared/rollouts/packed.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { channelsOf } from "../../analysis/tokens/channels.ts";
import { characterPlaces, placesOf, type Places } from "../../analysis/tokens/places.ts";
import { threadError, type ThreadError } from "../threadError.ts";
import { runTokenizer, type FoundTokenizer } from "./runTokenizer.ts";

export interface TokensTask {
  readonly id: number;
  /** Folder of the run. */
  readonly folder: string;
  /** The run's config as its author wrote it. */
  readonly authored: string;
  readonly record: Pick<RolloutRow, "response" | "turns"> & Pick<RolloutRecordLog, "columns">;
  readonly from: number;
  readonly to: number | undefined;
}
export type TokensAnswer =
  | { readonly id: number; readonly tokens: RolloutTokens }
  | { readonly id: number; readonly error: ThreadError };

/** Of the run that was asked for last. */
let loaded: { readonly folder: string; readonly found: Promise<FoundTokenizer> } | undefined;

function tokenizerOf({ folder, authored }: TokensTask): Promise<FoundTokenizer> {
  if (loaded?.folder !== folder) loaded = { folder, found: runTokenizer(folder, authored) };
  return loaded.found;
}

const none = new Int32Array(0);

async function placed(
  task: TokensTask,
  ids: Int32Array,
): Promise<{ places: Places | undefined; reason: string | null }> {
  const found = await tokenizerOf(task);
  // A live run may have a checkpoint by the next time.
  if ("reason" in found) loaded = undefined;
  const decoded = "tokenizer" in found ? placesOf(ids, task.record, found.tokenizer) : undefined;
  const places = decoded ?? characterPlaces(ids.length, task.record.response ?? "");
  if (places !== undefined) return { places, reason: null };
  return {
    places,
    reason:
      "reason" in found
        ? found.reason
        : "The recorded tokens say another text than the response: the run's tokenizer has changed.",
  };
}

async function read(task: TokensTask): Promise<RolloutTokens> {
  const { columns } = task.record;
  const ids = columns.tokens instanceof Int32Array ? columns.tokens : none;
  const from = Math.min(task.from, ids.length);
  const to = Math.max(from, Math.min(task.to ?? ids.length, ids.length));
  const { places, reason } =
    ids.length === 0
      ? { places: undefined, reason: "The run's log has no tokens." }
      : await placed(task, ids);
  const origin = Uint8Array.from(columns.origin ?? new Uint8Array(ids.length));
  const mask =
    columns.mask === undefined ? origin.map((kind) => (kind === 0 ? 1 : 0)) : Uint8Array.from(columns.mask);
  return {
    total: ids.length,
    from,
    to,
    ids: packed(ids.subarray(from, to)),
    starts: packed(places?.starts.subarray(from, to) ?? none),
    ends: packed(places?.ends.subarray(from, to) ?? none),
    reason,
    origin: packed(origin.subarray(from, to)),
    mask: packed(mask.subarray(from, to)),
    channels: channelsOf(columns).map((channel) => ({
      ...channel,
      values: packed(channel.values.subarray(from, to)),
    })),
  };
}

async function answer(task: TokensTask): Promise<TokensAnswer> {
  try {
    return { id: task.id, tokens: await read(task) };
  } catch (error) {
    return { id: task.id, error: threadError(error) };
  }
}

parentPort?.on("message", async (task: TokensTask) => parentPort!.postMessage(await answer(task)));
