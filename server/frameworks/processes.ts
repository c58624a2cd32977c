/** How many processes train. */
import type { DocumentModel } from "./model.ts";

/**
 * What the launcher says, undefined where it names what is not known here; else accelerate's own setting.
 * @param unsaid where nothing says anything
 */
export function processesOf(model: DocumentModel, unsaid?: number): number | undefined {
  const { processes } = model.document;
  if (processes === undefined) return model.number("num_processes") ?? unsaid;
  return typeof processes.value === "number" ? processes.value : undefined;
}
