module antiphon/subjects/shared-data-go

go 1.21
