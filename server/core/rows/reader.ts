/** Who reads a batch after which contexts: `<model>` after its own, `<model>@<name>` after others that it has. */
import type { Model } from "../basics.ts";
import type { Batch } from "../rollouts.ts";

interface Reader {
  readonly model: Model;
  /** A name in `Batch.contexts`. */
  readonly teacher?: string;
}

export function readerOf(name: Model): Reader {
  const at = name.indexOf("@");
  return at < 0 ? { model: name } : { model: name.slice(0, at), teacher: name.slice(at + 1) };
}

export const readerName = ({ model, teacher }: Reader): Model =>
  teacher === undefined ? model : `${model}@${teacher}`;

/** The batch with the contexts that the reader sees in the place of its own; itself where it has none of that name. */
export function asReadBy(name: Model, batch: Batch): Batch {
  const context = batch.contexts?.[readerOf(name).teacher ?? ""];
  return context === undefined ? batch : { ...batch, trainContext: context };
}
