import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

/** Folders of `server/` that hold methods: they know the seams and the config types, and nothing of each other. */
const slots = [
  "tasks",
  "curriculum",
  "stages",
  "rollout",
  "guidance",
  "reward",
  "advantage",
  "objective",
  "kl",
  "mask",
  "route",
  "replay",
  "auxiliary",
  "scheduler",
  "evaluation",
  "sweep",
];

const forbid = (patterns) => ({ "no-restricted-imports": ["error", { patterns }] });
const noEditor = { group: ["vscode"], message: "Only extension/ may import the editor." };

export default tseslint.config(
  {
    ignores: [
      "node_modules",
      "dist",
      "out",
      "coverage",
      ".vscode-test",
      "test/fixtures",
      "examples",
      "**/*.mjs",
      "bin",
    ],
  },
  eslint.configs.recommended,
  ...tseslint.configs.strict,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "no-console": "error",
      "no-empty": ["error", { allowEmptyCatch: false }],
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: false }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/restrict-template-expressions": "off",
      "@typescript-eslint/no-extraneous-class": "off",
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ["shared/**/*.ts"],
    rules: forbid([
      noEditor,
      {
        group: ["**/server/**", "**/extension/**", "**/webviews/**"],
        message: "shared/ imports nothing from the other three.",
      },
    ]),
  },
  {
    files: ["webviews/**/*.ts"],
    rules: forbid([
      noEditor,
      { group: ["**/server/**", "**/extension/**"], message: "A webview knows only shared/." },
    ]),
  },
  {
    files: ["extension/**/*.ts"],
    rules: forbid([
      {
        group: ["**/server/**", "better-sqlite3", "libsql", "@tensorflow/*"],
        message: "The extension host runs no training code, no SQLite, no native module.",
      },
    ]),
  },
  {
    files: ["server/**/*.ts"],
    ignores: ["server/cli.ts", "server/cli/**", "server/daemon/**", "server/run/**"],
    rules: forbid([
      noEditor,
      { group: ["**/extension/**", "**/webviews/**"], message: "server/ imports shared/ only." },
      { group: ["**/run/*", "**/run/**"], message: "Nothing imports run/ but the worker's entry." },
    ]),
  },
  ...slots.map((slot) => ({
    files: [`server/${slot}/**/*.ts`],
    rules: forbid([
      noEditor,
      {
        group: [
          ...slots.filter((other) => other !== slot).map((other) => `**/${other}/**`),
          "**/policy/**",
          "**/run/**",
          "**/store/**",
          "**/daemon/**",
          "**/language/**",
        ],
        message: "A slot imports seams.ts and config/ types; models reach it by injection.",
      },
    ]),
  })),
  {
    files: ["test/**/*.ts", "bench/**/*.ts", "server/cli.ts", "server/cli/**/*.ts"],
    rules: { "no-console": "off", "@typescript-eslint/no-floating-promises": "off" },
  },
);
