import type { SlotName, SlotMethods } from "../declaration.ts";
import type { Choice, CreateContext } from "./resolved.ts";

/** Creates a chosen method; relative paths in its parameters start from the folder of the file that wrote it. */
export const createMethod = <Slot extends SlotName>(
  choice: Choice<Slot>,
  context: CreateContext,
): SlotMethods[Slot] => choice.declaration.create(choice.params, { ...context, folder: choice.folder });
