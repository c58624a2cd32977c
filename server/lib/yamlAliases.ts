/** What aliases of a YAML document expand to, and how far they may: 1 kB of them can mean 10⁸ values. */
import { isAlias, isCollection, isNode, isPair, visit, type Alias, type Document, type Node } from "yaml";
import { formatCount } from "../../shared/lib/format.ts";

/** Values that the aliases of one reading may expand to, all files together. */
export const mostAliased = 100_000;

export const aliasesBeyondWords = (most: number): string =>
  `The aliases expand to more than ${formatCount(most)} values: anchors that contain aliases of other anchors multiply. Write the values out, or put fewer of them into an anchor.`;

export const tooManyAliases = aliasesBeyondWords(mostAliased);

/** Every alias with the node it refers to: the last one of its name above it. One walk for all of them. */
export function aliasTargets(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node)) {
        const target = anchors.get(node.source);
        if (target !== undefined) targets.set(node, target);
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

/** The first alias beyond which those of a document expand to too much; of one that contains itself, that one. */
export function firstBeyond(document: Document, most = mostAliased): Alias | undefined {
  const targets = aliasTargets(document);
  if (targets.size === 0) return undefined;
  const sizes = new Map<Node, number>();
  const sizeOf = (node: unknown): number => {
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value);
    if (!isNode(node)) return 0;
    const known = sizes.get(node);
    if (known !== undefined) return known;
    // Met again before it is known: it holds itself.
    sizes.set(node, Number.POSITIVE_INFINITY);
    const size = isAlias(node)
      ? sizeOf(targets.get(node))
      : isCollection(node)
        ? node.items.reduce<number>((sum, item) => sum + sizeOf(item), 1)
        : 1;
    sizes.set(node, size);
    return size;
  };
  let total = 0;
  for (const alias of targets.keys()) {
    total += sizeOf(alias);
    if (total > most) return alias;
  }
  return undefined;
}
