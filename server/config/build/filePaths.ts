/** Files that a method's parameters name: a path starts from the folder of whoever wrote it, not of who chose the method. */
import type { z } from "zod";
import type { SourceNode } from "../text/node.ts";
import { datasetPlace } from "../../lib/datasets/name.ts";
import { referenceOf } from "../../core/references.ts";
import { kindOf, unwrapped } from "../check/values.ts";

/**
 * The value with its paths made absolute, where they do not start from `folder`, from which the method takes them.
 * @param schema of the parameter
 */
export function fromItsFolder(schema: z.ZodType | undefined, node: SourceNode, folder: string): SourceNode {
  if (schema === undefined) return node;
  const inner = unwrapped(schema);
  const kind = kindOf(inner);
  if (node.kind === "list" && kind.kind === "array")
    return { ...node, items: node.items.map((item) => fromItsFolder(kind.element, item, folder)) };
  if (node.kind !== "scalar" || typeof node.value !== "string" || node.origin.folder === folder) return node;
  if (referenceOf(inner)?.to !== "file" || node.value.startsWith("${env:")) return node;
  return { ...node, value: datasetPlace(node.origin.folder, node.value) };
}
