/**
 * A W&B run's folder: `run-ID.wandb`, which W&B writes whether it is offline or not. The file is a log of LevelDB's form (blocks
 * of 32 KiB, records in pieces), each record a `Record` of Protocol Buffers; history items hold their value as JSON, or, in
 * later releases, typed.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parse as parseYaml } from "yaml";
import { isObject, type Json, type JsonObject } from "../../../../../shared/lib/json.ts";
import { parseJson } from "../../../../../shared/rollouts/rollouts.ts";
import { limits, readText } from "../../../../lib/inputFile.ts";
import {
  doubleOf,
  fieldsOf,
  lastField,
  textField,
  wholeOf,
  zigzagOf,
} from "../../../../lib/growing/protobuf.ts";
import { newestWrite, sliceBytes, type Feed, type FeedAbout, type FeedSlice } from "../feed.ts";
import { pieceOf, Pieces, recordFields as fields } from "./wandbLog.ts";
import { RecordTail } from "../../../../lib/growing/recordTail.ts";
import { StepParts } from "../stepParts.ts";
import { stepOf, TrackerNames } from "../trackerNames.ts";

export const wandbFile = /^run-.+\.wandb$/;

export class WandbFeed implements Feed {
  readonly trainer = "wandb";
  private readonly tail: RecordTail;
  private readonly pieces = new Pieces();
  private readonly names = new TrackerNames();
  private config: Record<string, Json> = {};
  private name: string | undefined;
  private version: string | null = null;
  private started: number | undefined;
  private last = 0;
  private exit: number | undefined;
  private unread = 0;

  constructor(private readonly folder: string) {
    const file = readdirSync(folder).find((name) => wandbFile.test(name)) ?? "";
    this.tail = new RecordTail(join(folder, file), pieceOf);
  }

  about(): FeedAbout {
    const config = Object.keys(this.config).length > 0 ? this.config : this.configFile();
    return {
      version: this.version,
      groups: "none",
      copies: false,
      notes: [
        ...(this.tail.damage === undefined ? [] : [this.tail.damage]),
        ...(this.unread > 0 ? [`${this.unread} records of the log cannot be read and were left out`] : []),
      ],
      ...(config === undefined ? {} : { config }),
      ...(this.name === undefined ? {} : { name: this.name }),
      ...(this.started === undefined ? {} : { started: this.started }),
      ...(this.exit === undefined
        ? {}
        : { ended: { time: this.last, status: this.exit === 0 ? "finished" : "failed" } }),
    };
  }

  next(): FeedSlice {
    const { payloads, bytes, more } = this.tail.next(sliceBytes);
    const parts = new StepParts();
    for (const payload of payloads) {
      const record = this.pieces.add(payload);
      if (record !== undefined) this.take(record, parts);
    }
    return { parts: parts.all(), bytes, more };
  }

  written(): number {
    return newestWrite([this.tail.file]);
  }

  close(): void {
    this.config = {};
  }

  private take(record: Buffer, parts: StepParts): void {
    try {
      for (const { number, bytes } of fieldsOf(record)) {
        if (number === fields.history) this.history(bytes, parts);
        if (number === fields.config) this.configure(bytes);
        if (number === fields.run) this.begin(bytes);
        if (number === fields.exit) this.exit = numberOf(bytes, 1);
        if (number === fields.header) this.header(bytes);
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.unread++;
    }
  }

  private history(bytes: Buffer, parts: StepParts): void {
    const values: Record<string, Json> = {};
    for (const field of fieldsOf(bytes)) {
      if (field.number !== 1) continue;
      const { path, value } = itemOf(field.bytes);
      // What W&B adds has a name of its own; a media object is no number.
      if (path.length > 0 && value !== undefined) values[path.join("/")] = value;
    }
    const step = lastField(bytes, 2);
    const own = step === undefined ? Number(values["_step"] ?? 0) : numberOf(step.bytes, 1);
    const time = Number(values["_timestamp"] ?? 0);
    this.last = Math.max(this.last, time);
    const data = Object.fromEntries(Object.entries(values).filter(([name]) => !name.startsWith("_")));
    parts.add(stepOf(data, own), time, this.names.values(data));
  }

  private begin(bytes: Buffer): void {
    this.name = textField(bytes, 8) ?? textField(bytes, 1) ?? this.name;
    const started = lastField(bytes, 17);
    if (started !== undefined) this.started = numberOf(started.bytes, 1);
    const config = lastField(bytes, 4);
    if (config !== undefined) this.configure(config.bytes);
  }

  private configure(bytes: Buffer): void {
    for (const { number, bytes: item } of fieldsOf(bytes)) {
      if (number !== 1) continue;
      const { path, value } = itemOf(item);
      const [first, ...rest] = path;
      if (first === undefined || first === "_wandb" || value === undefined) continue;
      this.config[first] = placed(this.config[first], rest, value);
    }
  }

  private header(bytes: Buffer): void {
    const info = lastField(bytes, 1);
    const producer = info === undefined ? undefined : textField(info.bytes, 1);
    if (producer !== undefined) this.version = producer.replace(/\+.*$/, "");
  }

  /** `files/config.yaml`, which W&B writes as `key: { value: … }`. */
  private configFile(): JsonObject | undefined {
    const file = join(this.folder, "files", "config.yaml");
    if (!existsSync(file)) return undefined;
    try {
      const value: unknown = parseYaml(readText(file, limits.config));
      if (!isObject(value)) return undefined;
      return Object.fromEntries(
        Object.entries(value)
          .filter(([key]) => key !== "_wandb" && key !== "wandb_version")
          .map(([key, one]) => [key, isObject(one) ? (one["value"] ?? null) : one]),
      );
    } catch {
      return undefined; // it is being written
    }
  }
}

/** An int64 or int32 of a message; absent is 0. */
const numberOf = (message: Buffer, number: number): number => {
  const field = lastField(message, number);
  return field === undefined ? 0 : wholeOf(field);
};

/** Of history and config alike: `key` or `nested_key`, and the value as JSON or typed. */
function itemOf(item: Buffer): { readonly path: readonly string[]; readonly value: Json | undefined } {
  const path: string[] = [];
  let value: Json | undefined;
  for (const field of fieldsOf(item)) {
    if (field.number === 1 || field.number === 2) path.push(field.bytes.toString("utf8"));
    if (field.number === 3) value = null;
    if (field.number === 4) value = field.bits !== 0n;
    if (field.number === 5) value = zigzagOf(field);
    if (field.number === 6) value = doubleOf(field);
    if (field.number === 7) value = field.bytes.toString("utf8");
    if (field.number === 8 || field.number === 16) value = jsonOf(field.bytes);
  }
  return { path, value };
}

function jsonOf(bytes: Buffer): Json | undefined {
  try {
    const value = parseJson(bytes.toString("utf8"));
    return isJson(value) ? value : undefined;
  } catch {
    return undefined; // a value that W&B itself could not write
  }
}

/** What JSON.parse gives. */
const isJson = (value: unknown): value is Json => value !== undefined;

function placed(present: Json | undefined, path: readonly string[], value: Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  const inner = isObject(present) ? present : {};
  return { ...inner, [first]: placed(inner[first], rest, value) };
}
