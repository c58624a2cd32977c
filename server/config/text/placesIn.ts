/** Where things of a list are: a list may have thousands of items, and each a diagnostic with a fix. */
import { perObject } from "../../lib/perObject.ts";
import { nameOf } from "../check/method.ts";
import type { ListNode, SourceNode } from "./node.ts";

/** The first place of each. */
export const firstPlaces = <Item>(items: readonly Item[]): ReadonlyMap<Item, number> =>
  new Map(items.map((item, index) => [item, index] as const).reverse());

/** The same, remembered for lists that stay as they are. */
export const placesIn: (items: readonly unknown[]) => ReadonlyMap<unknown, number> = perObject(firstPlaces);

/** The first task or stage of a name. */
export const itemNamed = ({ items }: ListNode, name: string): SourceNode | undefined =>
  itemsByName(items).get(name);

const itemsByName = perObject((items: readonly SourceNode[]) => {
  const pairs = items.flatMap((item) =>
    (["task", "stage"] as const).map((kind) => [nameOf(item, kind), item] as const),
  );
  return new Map(pairs.reverse());
});
