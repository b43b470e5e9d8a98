module.exports = requireOnce('@n8n/config');
