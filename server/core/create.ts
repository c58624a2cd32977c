import type { SlotMethods, SlotName, Choice, CreateContext } from "./declaration.ts";

/** The slot's function of a chosen method. `name` is what the config calls it: a term's or a task source's name. */
export const create = <Slot extends SlotName>(
  choice: Choice<Slot>,
  context: CreateContext,
  name?: string,
): SlotMethods[Slot] =>
  choice.declaration.create(choice.params, {
    ...context,
    folder: choice.folder,
    ...(name === undefined ? {} : { name }),
  });
