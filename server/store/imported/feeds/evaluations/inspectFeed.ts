/** An evaluation of Inspect: one `.eval` file, a zip with a member a sample, which is written on while the evaluation runs. */
import { statSync } from "node:fs";
import { basename } from "node:path";
import { UserError } from "../../../../../shared/lib/errors.ts";
import { isObject, objectOf, type Json, type JsonObject } from "../../../../../shared/lib/json.ts";
import {
  parseJson,
  toWire,
  type RolloutRow,
  type WireNumber,
} from "../../../../../shared/rollouts/rollouts.ts";
import { inspectRow } from "../../../../analysis/imported/inspectRows.ts";
import { ZipMembers, type Member } from "../../../archive/zipMembers.ts";
import { newestWrite, sliceBytes, type Feed, type FeedAbout, type FeedSlice } from "../feed.ts";
import { EvaluationTotals } from "./evaluationTotals.ts";

export const inspectLog = /\.eval$/;
const sampleName = /^samples\/.+\.json$/;
/** An evaluation is one step. */
const step = 1;

export class InspectFeed implements Feed {
  readonly trainer = "inspect";
  private readonly taken = new Set<string>();
  private readonly totals = new EvaluationTotals();
  /** `header.json`, else `_journal/start.json`, which is there from the start. */
  private header: JsonObject = {};
  private unread = 0;
  private seen = "";

  constructor(private readonly file: string) {}

  about(): FeedAbout {
    const { eval: about, status, stats, plan } = this.header;
    const { task, created, packages } = objectOf(about);
    const version = objectOf(packages)["inspect_ai"];
    const ended = secondsOf(objectOf(stats)["completed_at"]);
    const started = secondsOf(created);
    return {
      version: typeof version === "string" ? version : null,
      groups: "recorded",
      copies: true,
      name: typeof task === "string" ? task : basename(this.file),
      notes: this.unread === 0 ? [] : [`${this.unread} samples cannot be read and were left out`],
      ...(isObject(about ?? null) ? { config: { ...objectOf(about), plan: plan ?? null } } : {}),
      ...(started === undefined ? {} : { started }),
      ...(ended === undefined || typeof status !== "string" || status === "started"
        ? {}
        : { ended: { time: ended, status: status === "success" ? "finished" : "failed" } }),
    };
  }

  next(last: boolean): FeedSlice {
    const zip = this.opened(last);
    if (zip === undefined) return { parts: [], bytes: 0, more: false };
    try {
      this.readHeader(zip);
      const rows: RolloutRow[] = [];
      let bytes = 0;
      const open = zip.members.filter(({ name }) => sampleName.test(name) && !this.taken.has(name));
      for (const member of open) {
        if (bytes >= sliceBytes) break;
        this.taken.add(member.name);
        bytes += member.packed;
        const row = this.row(zip, member);
        if (row !== undefined) rows.push(row);
      }
      this.totals.add(rows);
      const more = open.some(({ name }) => !this.taken.has(name));
      const values = { ...this.totals.metrics(), ...(more ? {} : this.ownMetrics()) };
      if (!more) this.seen = stampOf(this.file);
      const parts = rows.length > 0 || !more ? [{ step, time: this.written() / 1000, rows, values }] : [];
      return { parts, bytes, more };
    } finally {
      zip.close();
    }
  }

  written(): number {
    return newestWrite([this.file]);
  }

  close(): void {
    this.taken.clear();
  }

  /** undefined: nothing has changed, or it is being written. */
  private opened(last: boolean): ZipMembers | undefined {
    if (this.seen === stampOf(this.file)) return undefined;
    try {
      return new ZipMembers(this.file);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      if (!last) return undefined;
      throw new UserError(`This log of Inspect cannot be read: ${error.message}.`, {
        file: this.file,
        code: "import-unread",
        cause: error,
        action: "If its evaluation was ended, `inspect log recover` makes a whole file of it.",
      });
    }
  }

  private readHeader(zip: ZipMembers): void {
    for (const name of ["header.json", "_journal/start.json"]) {
      const member = zip.members.find((one) => one.name === name);
      const value = member === undefined ? undefined : valueOf(zip, member);
      if (value === undefined) continue;
      this.header = value;
      return;
    }
  }

  private row(zip: ZipMembers, member: Member): RolloutRow | undefined {
    const sample = valueOf(zip, member);
    if (sample === undefined) {
      this.unread++;
      return undefined;
    }
    const { task } = objectOf(this.header["eval"]);
    const { headline } = objectOf(this.header["results"]);
    const scorer = objectOf(headline)["score"];
    const about = {
      name: typeof task === "string" ? task : "inspect",
      scorer: typeof scorer === "string" ? scorer : undefined,
    };
    return inspectRow(sample, about, step);
  }

  /** What Inspect itself computed: `includes/accuracy`. */
  private ownMetrics(): Record<string, WireNumber> {
    const { scores } = objectOf(this.header["results"]);
    const found: Record<string, WireNumber> = {};
    for (const score of Array.isArray(scores) ? scores.filter(isObject) : [])
      for (const [name, metric] of Object.entries(objectOf(score["metrics"]))) {
        const { value } = objectOf(metric);
        if (typeof value === "number") found[`${String(score["name"] ?? "")}/${name}`] = toWire(value);
      }
    return found;
  }
}

/** What says whether a file has changed. */
function stampOf(file: string): string {
  const { size, mtimeMs } = statSync(file);
  return `${size} ${mtimeMs}`;
}

/** undefined: it is damaged, or no JSON. */
function valueOf(zip: ZipMembers, member: Member): JsonObject | undefined {
  try {
    const value = parseJson(zip.read(member).toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function secondsOf(time: Json | undefined): number | undefined {
  const found = typeof time === "string" ? Date.parse(time) / 1000 : Number.NaN;
  return Number.isNaN(found) ? undefined : found;
}
