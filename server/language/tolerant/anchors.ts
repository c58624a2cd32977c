import type { SourceNode } from "../../config/text/node.ts";
import { mostAliased } from "../../lib/yamlAliases.ts";

/** Anchors of a half-written text. What their aliases repeat is walked again by every reader, so it is counted. */
export class Anchors {
  private readonly nodes = new Map<string, SourceNode>();
  private readonly sizes = new WeakMap<SourceNode, number>();
  private left = mostAliased;

  set(name: string, node: SourceNode): void {
    this.nodes.set(name, node);
  }

  /** An alias's value; undefined where there is no such anchor, or the aliases have too many values already. */
  resolve(name: string): SourceNode | undefined {
    const target = this.nodes.get(name);
    if (target === undefined) return undefined;
    const size = this.sizeOf(target);
    if (size > this.left) return undefined;
    this.left -= size;
    return target;
  }

  private sizeOf(node: SourceNode): number {
    const known = this.sizes.get(node);
    if (known !== undefined) return known;
    const below =
      node.kind === "list"
        ? node.items
        : node.kind === "map"
          ? [...node.entries.values()].map(({ value }) => value)
          : [];
    const size = below.reduce((sum, one) => sum + this.sizeOf(one), 1);
    this.sizes.set(node, size);
    return size;
  }
}
