/** Who reads a batch after which contexts: `<model>` after its own, `<model>@<name>` after others that it has. */
import type { Model } from "../basics.ts";
import type { Batch } from "../rollouts.ts";

interface Reader {
  readonly model: Model;
  /** A name in `Batch.contexts`. */
  readonly behind?: string;
}

export function readerOf(name: Model): Reader {
  const at = name.indexOf("@");
  return at < 0 ? { model: name } : { model: name.slice(0, at), behind: name.slice(at + 1) };
}

export const readerName = ({ model, behind }: Reader): Model =>
  behind === undefined ? model : `${model}@${behind}`;

/** The batch with the contexts that the reader sees in the place of its own; itself where it has none of that name. */
export function asReadBy(name: Model, batch: Batch): Batch {
  const shown = batch.contexts?.[readerOf(name).behind ?? ""];
  return shown === undefined ? batch : { ...batch, trainContext: shown };
}
