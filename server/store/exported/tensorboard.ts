/**
 * A run as one of TensorBoard's event files: numbers as PyTorch writes them (`simple_value`, 32 bits), the config as a text, and for
 * the tab HParams its values and how the run ended.
 */
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import type { EndRecord } from "../../../shared/log/records.ts";
import { fromWire } from "../../../shared/rollouts/rollouts.ts";
import { maskedCrc32c } from "../../lib/growing/crc32c.ts";
import { putDouble, putFloat, putMessage, putText, putWhole } from "../../lib/growing/putProtobuf.ts";
import type { LoggedRun, LoggedStep } from "./loggedRun.ts";

/** `events.out.tfevents.<seconds>.<host>.<process>.<file>`: the host is that of no machine, so that a run's file is always the same. */
export const eventFileName = ({ start }: LoggedRun): string =>
  `events.out.tfevents.${Math.floor(Date.parse(start.started_at) / 1000)}.gradus.0.0`;

/** The file's records. @param named a metric's name in the file */
export function* eventRecords(run: LoggedRun, named: (own: string) => string): Generator<Buffer> {
  const { start, end, steps } = run;
  const began = Date.parse(start.started_at) / 1000;
  yield record(putDouble(1, began), putText(3, "brain.Event:2"));
  yield record(
    putDouble(1, began),
    putMessage(5, text("config/text_summary", readable(start.config)), session(start.config, began)),
  );
  for (const step of steps) yield record(...event(step, named));
  if (end !== undefined)
    yield record(putDouble(1, Date.parse(end.ended_at) / 1000), putMessage(5, ending(end)));
}

/** One event a step, with all that was logged of it. */
function event({ step, time, values }: LoggedStep, named: (own: string) => string): Buffer[] {
  const summary = Object.entries(values).map(([name, value]) =>
    putMessage(1, putText(1, named(name)), putFloat(2, fromWire(value))),
  );
  return [putDouble(1, time), putWhole(2, step), putMessage(5, ...summary)];
}

/** `u64 length | u32 checksum of it | data | u32 checksum of them`. */
function record(...fields: readonly Buffer[]): Buffer {
  const data = Buffer.concat(fields);
  const bytes = Buffer.alloc(data.length + 16);
  bytes.writeBigUInt64LE(BigInt(data.length), 0);
  bytes.writeUInt32LE(maskedCrc32c(bytes.subarray(0, 8)), 8);
  data.copy(bytes, 12);
  bytes.writeUInt32LE(maskedCrc32c(data), data.length + 12);
  return bytes;
}

/** Types of tensors. */
const type = { float: 1, text: 7 } as const;

function text(tag: string, content: string): Buffer {
  const one = putMessage(2, putMessage(2, putWhole(1, 1)));
  return putMessage(
    1,
    putText(1, tag),
    plugin("text"),
    putMessage(8, putWhole(1, type.text), one, putText(8, content)),
  );
}

const plugin = (name: string, content: readonly Buffer[] = []): Buffer =>
  putMessage(9, putMessage(1, putText(1, name), putMessage(2, ...content)));

/** The tab shows texts as Markdown: four spaces keep the lines. */
const readable = (config: JsonObject): string => JSON.stringify(config, null, 2).replace(/^/gm, "    ");

/** A value without a number: TensorBoard reads what its plug-in says. */
const hparams = (tag: string, content: Buffer): Buffer =>
  putMessage(
    1,
    putText(1, `_hparams_/${tag}`),
    plugin("hparams", [content]),
    putMessage(8, putWhole(1, type.float), putMessage(2, putMessage(2, putWhole(1, 0)))),
  );

function session(config: JsonObject, began: number): Buffer {
  const values = leavesOf(config).map(([key, value]) =>
    putMessage(1, putText(1, key), putMessage(2, protobufValue(value))),
  );
  return hparams("session_start_info", putMessage(3, ...values, putDouble(5, began)));
}

/** By their dotted keys. */
const leavesOf = (config: JsonObject, path = ""): (readonly [string, Json])[] =>
  Object.entries(config).flatMap(([key, value]) =>
    isObject(value) ? leavesOf(value, `${path}${key}.`) : [[`${path}${key}`, value] as const],
  );

/** TensorBoard's success and failure. */
const statuses = { finished: 1, stopped: 1, failed: 2 } as const;

const ending = ({ status, ended_at }: EndRecord): Buffer =>
  hparams(
    "session_end_info",
    putMessage(4, putWhole(1, statuses[status]), putDouble(2, Date.parse(ended_at) / 1000)),
  );

/** `google.protobuf.Value`; a list is its text. */
function protobufValue(value: Json): Buffer {
  if (typeof value === "number") return putDouble(2, value);
  if (typeof value === "boolean") return putWhole(4, value ? 1 : 0);
  return putText(3, typeof value === "string" ? value : JSON.stringify(value));
}
