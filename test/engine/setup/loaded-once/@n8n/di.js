module.exports = requireOnce('@n8n/di');
