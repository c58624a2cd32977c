/** What a code host needs of a SARIF 2.1.0 file, as JSON Schema: the required members and the forms of those we write. */
const text = { type: "string", minLength: 1 };
const message = { type: "object", properties: { text, markdown: text }, required: ["text"] };
const closed = (properties: object, required: readonly string[] = []): object => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const artifactLocation = closed({ uri: { type: "string", format: "uri-reference" }, uriBaseId: text }, [
  "uri",
]);
const position = { type: "integer", minimum: 1 };
const region = closed(
  { startLine: position, startColumn: position, endLine: position, endColumn: position },
  ["startLine"],
);
const physicalLocation = closed({ artifactLocation, region }, ["artifactLocation"]);
const logicalLocation = closed({ fullyQualifiedName: text, kind: { const: "member" } });
const level = { enum: ["none", "note", "warning", "error"] };
const replacement = closed({ deletedRegion: region, insertedContent: closed({ text: { type: "string" } }) }, [
  "deletedRegion",
]);
const artifactChange = closed(
  { artifactLocation, replacements: { type: "array", minItems: 1, items: replacement } },
  ["artifactLocation", "replacements"],
);
const fix = closed(
  { description: message, artifactChanges: { type: "array", minItems: 1, items: artifactChange } },
  ["artifactChanges"],
);
const location = closed({
  id: { type: "integer" },
  physicalLocation,
  logicalLocations: { type: "array", items: logicalLocation },
  message,
});
const result = closed(
  {
    ruleId: text,
    ruleIndex: { type: "integer", minimum: 0 },
    level,
    message,
    locations: { type: "array", minItems: 1, items: location },
    relatedLocations: { type: "array", items: location },
    fixes: { type: "array", minItems: 1, uniqueItems: true, items: fix },
    partialFingerprints: { type: "object", additionalProperties: text },
  },
  ["message"],
);
const rule = closed(
  {
    id: text,
    shortDescription: message,
    fullDescription: message,
    help: message,
    helpUri: { type: "string", format: "uri" },
    defaultConfiguration: closed({ level }),
  },
  ["id"],
);
const driver = closed(
  { name: text, version: text, rules: { type: "array", uniqueItems: true, items: rule } },
  ["name"],
);
const run = closed(
  {
    tool: closed({ driver }, ["driver"]),
    columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
    originalUriBaseIds: {
      type: "object",
      additionalProperties: closed({ uri: { type: "string", pattern: "/$" } }),
    },
    invocations: { type: "array", items: closed({ executionSuccessful: { type: "boolean" } }) },
    artifacts: { type: "array", items: closed({ location: artifactLocation }) },
    results: { type: "array", items: result },
  },
  ["tool", "results"],
);

export const sarifSchema: object = closed(
  {
    $schema: { type: "string", format: "uri" },
    version: { const: "2.1.0" },
    runs: { type: "array", items: run },
  },
  ["version", "runs"],
);
