/** esbuild bundles a style sheet that a module imports. */
declare module "*.css";
