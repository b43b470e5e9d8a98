export { toolingConfig as default } from '../tools/eslint.base.mjs';
