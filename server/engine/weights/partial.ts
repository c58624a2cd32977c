/** Paused generations as plain data, to be kept next to a checkpoint and continued by another process. */
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Saved } from "../../core/basics.ts";
import type { PartialSample } from "../../core/policy.ts";

const headSchema = z.object({ index: z.array(z.number().int()), tokens: z.array(z.number().int()) });
const columns = ["logp_old", "logp_sampled", "entropy"] as const;

function joined<Column extends Int32Array | Float64Array>(parts: readonly Column[], into: Column): Column {
  let at = 0;
  for (const part of parts) {
    into.set(part, at);
    at += part.length;
  }
  return into;
}

/** One column each of all samples' tokens and what is reported of them, end to end. */
export function savePartials(partials: readonly PartialSample[]): Saved {
  const counts = partials.map(({ tokens }) => tokens.length);
  const size = counts.reduce((sum, count) => sum + count, 0);
  const floats = columns.map((name) => [
    name,
    joined(
      partials.map((partial) => partial[name]),
      new Float64Array(size),
    ),
  ]);
  return {
    json: { index: partials.map(({ index }) => index), tokens: counts },
    arrays: {
      tokens: joined(
        partials.map(({ tokens }) => tokens),
        new Int32Array(size),
      ),
      versions: joined(
        partials.map(({ versions }) => versions),
        new Int32Array(size),
      ),
      ...Object.fromEntries(floats),
    },
  };
}

const damaged = (what: string): UserError =>
  new UserError(`The paused responses cannot be read: ${what}.`, {
    code: "partial-damaged",
    action: "Leave the file out, so that they are generated again.",
  });

/** @throws UserError where the data is not what `savePartials` wrote. */
export function loadPartials({ json, arrays = {} }: Saved): PartialSample[] {
  const head = headSchema.safeParse(json);
  if (!head.success || head.data.index.length !== head.data.tokens.length)
    throw damaged("their lengths are missing");
  const size = head.data.tokens.reduce((sum, count) => sum + count, 0);
  const integers = (name: string): Int32Array => {
    const column = arrays[name];
    if (column instanceof Int32Array && column.length === size) return column;
    throw damaged(`the column ${name} is missing or of another length`);
  };
  const floats = (name: string): Float64Array => {
    const column = arrays[name];
    if (column instanceof Float64Array && column.length === size) return column;
    throw damaged(`the column ${name} is missing or of another length`);
  };
  const [tokens, versions] = [integers("tokens"), integers("versions")];
  const [logp_old, logp_sampled, entropy] = columns.map(floats);
  let at = 0;
  return head.data.index.map((index, number) => {
    const [from, to] = [at, (at += head.data.tokens[number]!)];
    return {
      index,
      tokens: tokens.slice(from, to),
      logp_old: logp_old!.slice(from, to),
      logp_sampled: logp_sampled!.slice(from, to),
      entropy: entropy!.slice(from, to),
      versions: versions.slice(from, to),
    };
  });
}
