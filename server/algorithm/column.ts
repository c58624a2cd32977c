export { column } from "../objective/column.ts";
