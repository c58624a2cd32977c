import { isScalar, visit, YAMLParseError, type Document, type YAMLError } from "yaml";

/** A document's errors with those of keys that a block has twice, in the order of the text. */
export function repeatedKeys(document: Document.Parsed): readonly YAMLError[] {
  const found: YAMLError[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const start = key.range?.[0] ?? 0;
        if (seen.has(key.value))
          found.push(new YAMLParseError([start, start + 1], "DUPLICATE_KEY", "Map keys must be unique"));
        seen.add(key.value);
      }
    },
  });
  if (found.length === 0) return document.errors;
  return [...document.errors, ...found].sort((a, b) => a.pos[0] - b.pos[0]);
}
