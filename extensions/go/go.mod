module github.com/piecework/piecework/extensions/go

go 1.19
