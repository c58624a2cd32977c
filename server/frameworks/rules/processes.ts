/** How many processes train. */
import type { DocumentModel } from "./model.ts";

/**
 * The launcher's number, undefined if it depends on something unknown; else accelerate's own setting.
 * @param unsaid the number if nothing sets it
 */
export function processesOf(model: DocumentModel, unsaid?: number): number | undefined {
  const { processes } = model.document;
  if (processes === undefined) return model.number("num_processes") ?? unsaid;
  return typeof processes.value === "number" ? processes.value : undefined;
}
