// Who may import whom: one table of floors. `npm run check` runs it, types included, and a test tries every wall.

/** Rooms of server/ from the ground up: a room imports itself and the rooms above it in this list, types included. */
export const floors = [
  "lib",
  "core",
  "methods",
  "algorithm",
  "config",
  "rules",
  "engine",
  "endpoint",
  "analysis",
  "frameworks",
  "store",
  "run",
  "sites",
  "language",
  "daemon",
  "cli",
];

/** Rooms of server/frameworks/, likewise. */
export const trainerFloors = [
  "text",
  "releases",
  "readers",
  "rules",
  "lens",
  "launch",
  "carried",
  "trainers",
  "check",
  "use",
];

/** Rooms that fewer may import than the floors alone would let. */
export const importers = {
  // Training is not for the language server, and neither it nor the store needs other trainers' configs.
  run: ["cli", "daemon"],
  frameworks: ["cli", "daemon", "language", "sites"],
};

const forbid = (name, from, to, comment) => ({
  name,
  severity: "error",
  comment,
  from: { path: from },
  to: { path: to },
});
const anyOf = (rooms, within = "^server") => `${within}/(${rooms.join("|")})/`;
const native = "(^|/)(better-sqlite3|libsql|@tensorflow)(/|$)";

const rooms = floors.flatMap((room, floor) => {
  const above = floors.slice(floor + 1);
  const barred = Object.entries(importers)
    .filter(([other, allowed]) => other !== room && !above.includes(other) && !allowed.includes(room))
    .map(([other]) => other);
  const closed = [...above, ...barred];
  const entry = "^server/cli\\.ts$";
  return [
    forbid(
      `${room} imports lower floors only`,
      `^server/${room}/`,
      closed.length === 0 ? entry : `${anyOf(closed)}|${entry}`,
      "Move what both need to a lower floor, or pass it in.",
    ),
  ];
});

const trainerRooms = trainerFloors
  .slice(0, -1)
  .map((room, floor) =>
    forbid(
      `frameworks/${room} imports lower floors only`,
      `^server/frameworks/${room}/`,
      anyOf(trainerFloors.slice(floor + 1), "^server/frameworks"),
      "Move what both need to a lower floor, or pass it in.",
    ),
  );

export default {
  forbidden: [
    ...rooms,
    ...trainerRooms,
    forbid(
      "a trainer knows no other trainer",
      "^server/frameworks/trainers/([^/]+)/",
      "^server/frameworks/trainers/([^/]+\\.ts$|(?!$1/)[^/]+/)",
      "What two trainers share lives in text/, readers/, rules/ or lens/.",
    ),
    {
      name: "folders of frameworks/ form no circle",
      scope: "folder",
      severity: "error",
      comment: "Move the file that goes against the others.",
      from: { path: "^server/frameworks/" },
      to: { path: "^server/frameworks/", circular: true },
    },
    forbid(
      "a slot knows no other slot",
      "^server/methods/([^/]+)/",
      "^server/methods/(index\\.ts$|(?!$1/)[^/]+/)",
      "Methods share core/ and lib/; models and losses reach them through their context.",
    ),
    forbid("server/ imports shared/ only", "^server/", "^(extension|webviews|test|bench|scripts)/|^vscode$"),
    forbid("shared/ stands alone", "^shared/", "^(server|extension|webviews|test|bench|scripts)/|^vscode$"),
    forbid("a webview knows shared/ only", "^webviews/", "^(server|extension|test|bench|scripts)/|^vscode$"),
    forbid(
      "the extension trains nothing",
      "^extension/",
      `^(server|webviews|test|bench|scripts)/|${native}`,
      "The extension host runs no training code, no SQLite and no native module: the daemon does.",
    ),
    {
      name: "no circles",
      severity: "error",
      comment: "Move the type that both need into a file of its own.",
      from: { path: "^(server|shared|extension|webviews)/" },
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts"] },
  },
};
