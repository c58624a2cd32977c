export { column } from "../../methods/objective/column.ts";
